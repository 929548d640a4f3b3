ALTER TABLE `accounts` ADD `is_unverified` integer DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE `license_totals` ADD `bytes` integer;
--> statement-breakpoint
CREATE INDEX `license_totals_unmeasured` ON `license_totals` (`licenses`) WHERE "license_totals"."bytes" IS NULL;
--> statement-breakpoint
-- What a row takes in its table and in indexes, about. The columns are computed when they are read.
ALTER TABLE `licenses` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  700 + coalesce(octet_length(`license_key`), 0) + coalesce(octet_length(`product`), 0)
    + coalesce(octet_length(`customer_email`), 0) + coalesce(octet_length(`customer_name`), 0)
    + coalesce(octet_length(`customer_company`), 0) + coalesce(octet_length(`metadata`), 0)
    + coalesce(octet_length(`terms`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `products` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  150 + coalesce(octet_length(`code`), 0) + coalesce(octet_length(`name`), 0) + coalesce(octet_length(`terms`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  500 + coalesce(octet_length(`name`), 0) + coalesce(octet_length(`sealed`), 0)
    + coalesce(octet_length(`allowed_ips`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `audit_log` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  120 + coalesce(octet_length(`actor_id`), 0) + coalesce(octet_length(`target`), 0) + coalesce(octet_length(`ip`), 0)
    + coalesce(octet_length(`details`), 0) + coalesce(octet_length(`read_key`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  300 + coalesce(octet_length(`key`), 0) + coalesce(octet_length(`key`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `payments` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  400 + coalesce(octet_length(`checkout_ref`), 0) + coalesce(octet_length(`checkout_url`), 0)
    + coalesce(octet_length(`success_url`), 0) + coalesce(octet_length(`cancel_url`), 0)
) VIRTUAL;
--> statement-breakpoint
-- What each account stores, from its rows. The totals of an account that has no number of bytes yet are taken from here.
CREATE VIEW `stored_bytes` AS SELECT
  `account_id`,
  coalesce((SELECT sum(`bytes`) FROM `licenses` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `license_changes` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `products` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `api_keys` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `audit_log` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `idempotency_keys` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `payments` WHERE `account_id` = `license_totals`.`account_id`), 0) AS `bytes`
FROM `license_totals`;
--> statement-breakpoint
-- Each account has a row of totals in its own database, and no other. Triggers add to it and never insert it, so that what the
-- first database knows of accounts elsewhere is not counted there.
INSERT INTO `license_totals` (`account_id`, `licenses`) SELECT `id`, 0 FROM `accounts` WHERE true ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- A create writes the totals once: its license is counted together with its entry in the audit log, whose id is that of the
-- license with another prefix, and with its idempotency key. The unary plus rules out the index with all keys of the account.
DROP TRIGGER `license_totals_insert`;
--> statement-breakpoint
CREATE TRIGGER `license_totals_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `license_totals` (`account_id`, `licenses`, `bytes`)
  VALUES (new.`account_id`, 1, NULL)
  ON CONFLICT DO UPDATE SET
    `licenses` = `licenses` + 1,
    `bytes` = `bytes` + new.`bytes`
      + coalesce((
        SELECT `bytes` FROM `audit_log` WHERE `account_id` = new.`account_id` AND `id` = 'aud' || substr(new.`id`, 4)
      ), 0)
      + coalesce((
        SELECT sum(`bytes`) FROM `idempotency_keys`
        WHERE `created_at` = new.`created_at` AND +`account_id` = new.`account_id` AND `license_id` = new.`id`
      ), 0);
END;
--> statement-breakpoint
DROP TRIGGER `license_totals_delete`;
--> statement-breakpoint
CREATE TRIGGER `license_totals_delete` AFTER DELETE ON `licenses` BEGIN
  UPDATE `license_totals` SET `licenses` = `licenses` - 1, `bytes` = `bytes` - old.`bytes`
  WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `licenses_bytes_update` AFTER UPDATE ON `licenses` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_changes_bytes_insert` AFTER INSERT ON `license_changes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_changes_bytes_update` AFTER UPDATE ON `license_changes` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_changes_bytes_delete` AFTER DELETE ON `license_changes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `products_bytes_insert` AFTER INSERT ON `products` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `products_bytes_update` AFTER UPDATE ON `products` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `products_bytes_delete` AFTER DELETE ON `products` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_bytes_insert` AFTER INSERT ON `api_keys` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_bytes_update` AFTER UPDATE ON `api_keys` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_bytes_delete` AFTER DELETE ON `api_keys` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_bytes_insert` AFTER INSERT ON `audit_log`
WHEN new.`id` IS NOT 'aud' || substr(new.`target`, 4)
  OR EXISTS (SELECT 1 FROM `licenses` WHERE `account_id` = new.`account_id` AND `id` = new.`target`)
BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_bytes_delete` AFTER DELETE ON `audit_log` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `idempotency_keys_bytes_insert` AFTER INSERT ON `idempotency_keys`
WHEN EXISTS (SELECT 1 FROM `licenses` WHERE `account_id` = new.`account_id` AND `id` = new.`license_id`)
BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `idempotency_keys_bytes_delete` AFTER DELETE ON `idempotency_keys` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `payments_bytes_insert` AFTER INSERT ON `payments` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `payments_bytes_update` AFTER UPDATE ON `payments` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `payments_bytes_delete` AFTER DELETE ON `payments` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
