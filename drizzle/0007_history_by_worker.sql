-- The Worker writes the history now, in the batch of the change, so that a new field needs no new trigger. This trigger
-- only records changes by the previous release, which still runs between this migration and the deployment, and after
-- a rollback. A later release can drop it.
DROP TRIGGER IF EXISTS `license_changes_update`;
--> statement-breakpoint
CREATE TRIGGER `license_changes_update` AFTER UPDATE OF `status`, `expires_at`, `product`, `customer_email`, `customer_name`, `metadata` ON `licenses`
WHEN (old.`status`, old.`expires_at`, old.`product`, old.`customer_email`, old.`customer_name`, old.`metadata`)
  IS NOT (new.`status`, new.`expires_at`, new.`product`, new.`customer_email`, new.`customer_name`, new.`metadata`)
  -- The Worker's own entry precedes its update and has the same time.
  AND new.`updated_at` IS NOT (SELECT `at` FROM `license_changes` WHERE `account_id` = new.`account_id` AND `license_id` = new.`id` ORDER BY `seq` DESC LIMIT 1)
BEGIN
  INSERT INTO `license_changes` (`account_id`, `license_id`, `seq`, `at`, `before`, `after`) VALUES (
    new.`account_id`,
    new.`id`,
    (SELECT coalesce(max(`seq`), 0) + 1 FROM `license_changes` WHERE `account_id` = new.`account_id` AND `license_id` = new.`id`),
    new.`updated_at`,
    json_object('status', old.`status`, 'expires_at', old.`expires_at`, 'product', old.`product`, 'customer_email', old.`customer_email`, 'customer_name', old.`customer_name`, 'metadata', json(old.`metadata`)),
    json_object('status', new.`status`, 'expires_at', new.`expires_at`, 'product', new.`product`, 'customer_email', new.`customer_email`, 'customer_name', new.`customer_name`, 'metadata', json(new.`metadata`))
  );
END;
