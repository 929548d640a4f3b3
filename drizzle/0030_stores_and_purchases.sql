CREATE TABLE `product_mails` (
	`account_id` text NOT NULL,
	`product` text NOT NULL,
	`from_name` text,
	`intro` text,
	`support_url` text,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `product`)
);
--> statement-breakpoint
CREATE TABLE `purchase_facts` (
	`account_id` text NOT NULL,
	`store_id` text NOT NULL,
	`name` text NOT NULL,
	`purchase_id` text,
	`fact` text NOT NULL,
	`taken_at` integer NOT NULL,
	`is_erased` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`store_id`, `name`)
);
--> statement-breakpoint
CREATE INDEX `purchase_facts_by_account` ON `purchase_facts` (`account_id`);--> statement-breakpoint
CREATE INDEX `purchase_facts_by_purchase` ON `purchase_facts` (`purchase_id`) WHERE "purchase_facts"."purchase_id" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `purchase_licenses` (
	`account_id` text NOT NULL,
	`purchase_id` text NOT NULL,
	`slot` integer NOT NULL,
	`number` integer NOT NULL,
	`license_id` text NOT NULL,
	`wanted` text NOT NULL,
	`offer` text NOT NULL,
	`set_status` text,
	`returns_to` text,
	PRIMARY KEY(`purchase_id`, `slot`, `number`)
);
--> statement-breakpoint
CREATE INDEX `purchase_licenses_by_license` ON `purchase_licenses` (`account_id`,`license_id`);--> statement-breakpoint
CREATE TABLE `purchase_mails` (
	`account_id` text NOT NULL,
	`purchase_id` text NOT NULL,
	`number` integer NOT NULL,
	`due_at` integer,
	`sent_at` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`problem` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`purchase_id`, `number`)
);
--> statement-breakpoint
CREATE INDEX `purchase_mails_by_account` ON `purchase_mails` (`account_id`,`due_at`);--> statement-breakpoint
CREATE INDEX `purchase_mails_due` ON `purchase_mails` (`due_at`) WHERE "purchase_mails"."due_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `purchase_messages` (
	`account_id` text NOT NULL,
	`purchase_id` text NOT NULL,
	`message_id` text NOT NULL,
	PRIMARY KEY(`purchase_id`, `message_id`)
);
--> statement-breakpoint
CREATE INDEX `purchase_messages_by_message` ON `purchase_messages` (`message_id`);--> statement-breakpoint
CREATE INDEX `purchase_messages_by_account` ON `purchase_messages` (`account_id`);--> statement-breakpoint
CREATE TABLE `purchase_things` (
	`account_id` text NOT NULL,
	`store_id` text NOT NULL,
	`thing` text NOT NULL,
	`ref` text NOT NULL,
	`purchase_id` text NOT NULL,
	PRIMARY KEY(`store_id`, `thing`)
);
--> statement-breakpoint
CREATE INDEX `purchase_things_by_ref` ON `purchase_things` (`account_id`,`ref`);--> statement-breakpoint
CREATE INDEX `purchase_things_by_purchase` ON `purchase_things` (`purchase_id`);--> statement-breakpoint
CREATE TABLE `purchases` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`store_id` text NOT NULL,
	`provider` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`order_number` text,
	`customer_email` text,
	`customer_name` text,
	`buyer_ref` text,
	`is_test` integer DEFAULT false NOT NULL,
	`is_erased` integer DEFAULT false NOT NULL,
	`assigned` text,
	`decide_at` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `purchases_by_account` ON `purchases` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `purchases_by_status` ON `purchases` (`account_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `purchases_by_store` ON `purchases` (`store_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `purchases_by_email` ON `purchases` (`account_id`,lower("customer_email"));--> statement-breakpoint
CREATE INDEX `purchases_by_order` ON `purchases` (`account_id`,`order_number`);--> statement-breakpoint
CREATE INDEX `purchases_by_buyer` ON `purchases` (`store_id`,`buyer_ref`) WHERE "purchases"."buyer_ref" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `purchases_to_decide` ON `purchases` (`store_id`,`decide_at`) WHERE "purchases"."decide_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `purchases_due` ON `purchases` (`decide_at`) WHERE "purchases"."decide_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `offers` (
	`account_id` text NOT NULL,
	`store_id` text NOT NULL,
	`ref` text NOT NULL,
	`product` text NOT NULL,
	`grant` text NOT NULL,
	`days` integer,
	`quantity` text NOT NULL,
	`terms` text NOT NULL,
	`grace_days` integer NOT NULL,
	`on_refund` text NOT NULL,
	`on_dispute` text NOT NULL,
	`mail` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`store_id`, `ref`)
);
--> statement-breakpoint
CREATE INDEX `offers_by_account` ON `offers` (`account_id`);--> statement-breakpoint
CREATE TABLE `store_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`store_id` text NOT NULL,
	`hash` text NOT NULL,
	`type` text,
	`body` text,
	`topic` text,
	`times` integer DEFAULT 1 NOT NULL,
	`received_at` integer NOT NULL,
	`read_at` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`asks` text,
	`problem` text
);
--> statement-breakpoint
CREATE INDEX `store_messages_by_account` ON `store_messages` (`account_id`,`received_at`);--> statement-breakpoint
CREATE INDEX `store_messages_to_read` ON `store_messages` (`store_id`,`read_at`) WHERE "store_messages"."read_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `store_messages_due` ON `store_messages` (`read_at`) WHERE "store_messages"."read_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `store_messages_by_time` ON `store_messages` (`received_at`);--> statement-breakpoint
CREATE INDEX `store_messages_by_sealing_key` ON `store_messages` (substr("body",1,40)) WHERE "store_messages"."body" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `store_messages_by_hash` ON `store_messages` (`store_id`,`hash`);--> statement-breakpoint
CREATE TABLE `stores` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`provider` text NOT NULL,
	`name` text NOT NULL,
	`secret` text,
	`earlier_secrets` text DEFAULT '[]' NOT NULL,
	`api_key` text,
	`accept_test` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_event_at` integer,
	`check_at` integer,
	`checked_through` integer DEFAULT 0 NOT NULL,
	`check_cursor` text,
	`check_until` integer,
	`check_failures` integer DEFAULT 0 NOT NULL,
	`check_problem` text
);
--> statement-breakpoint
CREATE INDEX `stores_by_account` ON `stores` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `stores_to_check` ON `stores` (`check_at`) WHERE "stores"."check_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `stores_by_sealing_key` ON `stores` (`secret`) WHERE "stores"."secret" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `stores_by_api_sealing_key` ON `stores` (`api_key`) WHERE "stores"."api_key" IS NOT NULL;
--> statement-breakpoint
-- What a row takes in its table and in indexes, about. The columns are computed when they are read.
ALTER TABLE `stores` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  700 + coalesce(octet_length(`name`), 0) + coalesce(octet_length(`secret`), 0)
    + coalesce(octet_length(`earlier_secrets`), 0) + coalesce(octet_length(`api_key`), 0)
    + coalesce(octet_length(`check_cursor`), 0) + coalesce(octet_length(`check_problem`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `offers` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  300 + coalesce(octet_length(`ref`), 0) + coalesce(octet_length(`product`), 0)
    + coalesce(octet_length(`terms`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `store_messages` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  700 + coalesce(octet_length(`type`), 0) + coalesce(octet_length(`body`), 0)
    + coalesce(octet_length(`topic`), 0) + coalesce(octet_length(`asks`), 0)
    + coalesce(octet_length(`problem`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `purchases` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  1200 + coalesce(octet_length(`reason`), 0) + coalesce(octet_length(`order_number`), 0)
    + coalesce(octet_length(`customer_email`), 0) + coalesce(octet_length(`customer_email`), 0)
    + coalesce(octet_length(`customer_name`), 0) + coalesce(octet_length(`buyer_ref`), 0)
    + coalesce(octet_length(`assigned`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `purchase_things` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  400 + coalesce(octet_length(`thing`), 0) + coalesce(octet_length(`thing`), 0)
    + coalesce(octet_length(`ref`), 0) + coalesce(octet_length(`ref`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `purchase_facts` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  400 + coalesce(octet_length(`name`), 0) + coalesce(octet_length(`name`), 0)
    + coalesce(octet_length(`fact`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `purchase_messages` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  350
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `purchase_licenses` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  400 + coalesce(octet_length(`wanted`), 0) + coalesce(octet_length(`offer`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `purchase_mails` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  300 + coalesce(octet_length(`problem`), 0)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `product_mails` ADD COLUMN `bytes` integer GENERATED ALWAYS AS (
  150 + coalesce(octet_length(`product`), 0) + coalesce(octet_length(`product`), 0)
    + coalesce(octet_length(`from_name`), 0) + coalesce(octet_length(`intro`), 0)
    + coalesce(octet_length(`support_url`), 0)
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
  + coalesce((SELECT sum(`bytes`) FROM `portal_email_changes` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `stores` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `offers` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `store_messages` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `purchases` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `purchase_things` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `purchase_facts` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `purchase_messages` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `purchase_licenses` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `purchase_mails` WHERE `account_id` = `license_totals`.`account_id`), 0)
  + coalesce((SELECT sum(`bytes`) FROM `product_mails` WHERE `account_id` = `license_totals`.`account_id`), 0) AS `bytes`
FROM `license_totals`;
--> statement-breakpoint
CREATE TRIGGER `stores_bytes_insert` AFTER INSERT ON `stores` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `stores_bytes_update` AFTER UPDATE ON `stores` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `stores_bytes_delete` AFTER DELETE ON `stores` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `offers_bytes_insert` AFTER INSERT ON `offers` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `offers_bytes_update` AFTER UPDATE ON `offers` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `offers_bytes_delete` AFTER DELETE ON `offers` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `store_messages_bytes_insert` AFTER INSERT ON `store_messages` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `store_messages_bytes_update` AFTER UPDATE ON `store_messages` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `store_messages_bytes_delete` AFTER DELETE ON `store_messages` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchases_bytes_insert` AFTER INSERT ON `purchases` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchases_bytes_update` AFTER UPDATE ON `purchases` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchases_bytes_delete` AFTER DELETE ON `purchases` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_things_bytes_insert` AFTER INSERT ON `purchase_things` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_things_bytes_update` AFTER UPDATE ON `purchase_things` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_things_bytes_delete` AFTER DELETE ON `purchase_things` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_facts_bytes_insert` AFTER INSERT ON `purchase_facts` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_facts_bytes_update` AFTER UPDATE ON `purchase_facts` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_facts_bytes_delete` AFTER DELETE ON `purchase_facts` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_messages_bytes_insert` AFTER INSERT ON `purchase_messages` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_messages_bytes_update` AFTER UPDATE ON `purchase_messages` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_messages_bytes_delete` AFTER DELETE ON `purchase_messages` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_licenses_bytes_insert` AFTER INSERT ON `purchase_licenses` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_licenses_bytes_update` AFTER UPDATE ON `purchase_licenses` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_licenses_bytes_delete` AFTER DELETE ON `purchase_licenses` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_mails_bytes_insert` AFTER INSERT ON `purchase_mails` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_mails_bytes_update` AFTER UPDATE ON `purchase_mails` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_mails_bytes_delete` AFTER DELETE ON `purchase_mails` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `product_mails_bytes_insert` AFTER INSERT ON `product_mails` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `product_mails_bytes_update` AFTER UPDATE ON `product_mails` WHEN new.`bytes` <> old.`bytes` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `product_mails_bytes_delete` AFTER DELETE ON `product_mails` BEGIN
  UPDATE `license_totals` SET `bytes` = `bytes` - old.`bytes` WHERE `account_id` = old.`account_id`;
END;
