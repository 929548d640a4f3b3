-- A count of zero is deleted. A license whose last day changes often would otherwise leave a row for each of these days,
-- and the dashboard would read them all.
DROP TRIGGER IF EXISTS `license_counts_update`;
--> statement-breakpoint
CREATE TRIGGER `license_counts_update` AFTER UPDATE OF `status`, `expires_at` ON `licenses`
WHEN (old.`status`, old.`expires_at`) IS NOT (new.`status`, new.`expires_at`)
BEGIN
  DELETE FROM `license_counts`
  WHERE `account_id` = old.`account_id` AND `status` = old.`status` AND `expires_at` = coalesce(old.`expires_at`, '') AND `licenses` <= 1;
  UPDATE `license_counts` SET `licenses` = `licenses` - 1
  WHERE `account_id` = old.`account_id` AND `status` = old.`status` AND `expires_at` = coalesce(old.`expires_at`, '');
  INSERT INTO `license_counts` (`account_id`, `status`, `expires_at`, `licenses`)
  VALUES (new.`account_id`, new.`status`, coalesce(new.`expires_at`, ''), 1)
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
--> statement-breakpoint
DELETE FROM `license_counts` WHERE `licenses` = 0;
