-- An idempotency key may be claimed for a license that exists, for one that its commit creates later, or for an API key.
-- A create counts the bytes of its claim with those of the license: see license_totals_insert.
DROP TRIGGER `idempotency_keys_bytes_insert`;
--> statement-breakpoint
CREATE TRIGGER `idempotency_keys_bytes_insert` AFTER INSERT ON `idempotency_keys`
WHEN new.`license_id` NOT GLOB 'lic_*'
  OR EXISTS (SELECT 1 FROM `licenses` WHERE `account_id` = new.`account_id` AND `id` = new.`license_id`)
BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
