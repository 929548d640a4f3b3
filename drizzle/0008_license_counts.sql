-- Only active licenses are counted by their last day. Those whose day had passed when the counts were last added up
-- have one count, with the status expired and the first day that it does not include: see src/dashboard/license-counts.ts.
DROP TRIGGER `license_counts_insert`;
--> statement-breakpoint
DROP TRIGGER `license_counts_update`;
--> statement-breakpoint
DROP TRIGGER `license_counts_delete`;
--> statement-breakpoint
INSERT INTO `license_counts` (`account_id`, `status`, `expires_at`, `licenses`)
SELECT `account_id`, `status`, '', sum(`licenses`) FROM `license_counts`
WHERE `status` <> 'active' AND `expires_at` <> '' GROUP BY `account_id`, `status`
ON CONFLICT DO UPDATE SET `licenses` = `licenses` + excluded.`licenses`;
--> statement-breakpoint
DELETE FROM `license_counts` WHERE `status` <> 'active' AND `expires_at` <> '';
--> statement-breakpoint
CREATE TRIGGER `license_counts_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `license_counts` (`account_id`, `status`, `expires_at`, `licenses`)
  SELECT new.`account_id`, iif(new.`status` = 'active' AND new.`expires_at` < `day`, 'expired', new.`status`),
    iif(new.`status` <> 'active', '', iif(new.`expires_at` < `day`, `day`, coalesce(new.`expires_at`, ''))), 1
  FROM (SELECT max(`expires_at`) AS `day` FROM `license_counts` WHERE `account_id` = new.`account_id` AND `status` = 'expired') WHERE true
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `license_counts_update` AFTER UPDATE OF `status`, `expires_at` ON `licenses`
WHEN (old.`status`, old.`expires_at`) IS NOT (new.`status`, new.`expires_at`)
BEGIN
  DELETE FROM `license_counts` WHERE `licenses` <= 1 AND `status` <> 'expired' AND `account_id` = old.`account_id` AND (`status`, `expires_at`) = (
    SELECT iif(old.`status` = 'active' AND old.`expires_at` < `day`, 'expired', old.`status`),
      iif(old.`status` <> 'active', '', iif(old.`expires_at` < `day`, `day`, coalesce(old.`expires_at`, '')))
    FROM (SELECT max(`expires_at`) AS `day` FROM `license_counts` WHERE `account_id` = old.`account_id` AND `status` = 'expired')
  );
  UPDATE `license_counts` SET `licenses` = `licenses` - 1 WHERE `account_id` = old.`account_id` AND (`status`, `expires_at`) = (
    SELECT iif(old.`status` = 'active' AND old.`expires_at` < `day`, 'expired', old.`status`),
      iif(old.`status` <> 'active', '', iif(old.`expires_at` < `day`, `day`, coalesce(old.`expires_at`, '')))
    FROM (SELECT max(`expires_at`) AS `day` FROM `license_counts` WHERE `account_id` = old.`account_id` AND `status` = 'expired')
  );
  INSERT INTO `license_counts` (`account_id`, `status`, `expires_at`, `licenses`)
  SELECT new.`account_id`, iif(new.`status` = 'active' AND new.`expires_at` < `day`, 'expired', new.`status`),
    iif(new.`status` <> 'active', '', iif(new.`expires_at` < `day`, `day`, coalesce(new.`expires_at`, ''))), 1
  FROM (SELECT max(`expires_at`) AS `day` FROM `license_counts` WHERE `account_id` = new.`account_id` AND `status` = 'expired') WHERE true
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `license_counts_delete` AFTER DELETE ON `licenses` BEGIN
  DELETE FROM `license_counts` WHERE `licenses` <= 1 AND `status` <> 'expired' AND `account_id` = old.`account_id` AND (`status`, `expires_at`) = (
    SELECT iif(old.`status` = 'active' AND old.`expires_at` < `day`, 'expired', old.`status`),
      iif(old.`status` <> 'active', '', iif(old.`expires_at` < `day`, `day`, coalesce(old.`expires_at`, '')))
    FROM (SELECT max(`expires_at`) AS `day` FROM `license_counts` WHERE `account_id` = old.`account_id` AND `status` = 'expired')
  );
  UPDATE `license_counts` SET `licenses` = `licenses` - 1 WHERE `account_id` = old.`account_id` AND (`status`, `expires_at`) = (
    SELECT iif(old.`status` = 'active' AND old.`expires_at` < `day`, 'expired', old.`status`),
      iif(old.`status` <> 'active', '', iif(old.`expires_at` < `day`, `day`, coalesce(old.`expires_at`, '')))
    FROM (SELECT max(`expires_at`) AS `day` FROM `license_counts` WHERE `account_id` = old.`account_id` AND `status` = 'expired')
  );
END;
