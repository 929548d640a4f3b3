-- What a row takes in its table and in indexes, about, as in the other tables of an account.
ALTER TABLE `portal_sessions` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  300 + coalesce(octet_length(`email`), 0) + coalesce(octet_length(`email`), 0) + coalesce(octet_length(`ip`), 0)
    + coalesce(octet_length(`user_agent`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `portal_tokens` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  300 + coalesce(octet_length(`email`), 0) + coalesce(octet_length(`email`), 0) + coalesce(octet_length(`return_url`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `portal_email_changes` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  300 + coalesce(octet_length(`email`), 0) + coalesce(octet_length(`new_email`), 0)
) VIRTUAL;
--> statement-breakpoint
DROP VIEW `stored_bytes`;
--> statement-breakpoint
CREATE VIEW `stored_bytes` AS SELECT
  `account_id`,
  coalesce((SELECT sum(`bytes`) FROM `licenses` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `license_changes` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `products` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `api_keys` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `audit_log` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `idempotency_keys` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `payments` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `portal_sessions` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `portal_tokens` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `portal_email_changes` WHERE `account_id` = `license_totals`.`account_id`), 0) AS `bytes`
FROM `license_totals`;
--> statement-breakpoint
CREATE TRIGGER `portal_sessions_bytes_insert` AFTER INSERT ON `portal_sessions` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_sessions_bytes_update` AFTER UPDATE ON `portal_sessions` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_sessions_bytes_delete` AFTER DELETE ON `portal_sessions` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_tokens_bytes_insert` AFTER INSERT ON `portal_tokens` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_tokens_bytes_update` AFTER UPDATE ON `portal_tokens` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_tokens_bytes_delete` AFTER DELETE ON `portal_tokens` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_email_changes_bytes_insert` AFTER INSERT ON `portal_email_changes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_email_changes_bytes_update` AFTER UPDATE ON `portal_email_changes` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `portal_email_changes_bytes_delete` AFTER DELETE ON `portal_email_changes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
