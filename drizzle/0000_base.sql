-- Written by drizzle-kit, and then changed by hand. Columns of accounts, feed, and licenses are in the order of a database
-- that version 0.1 has created. known_browsers, recovery_codes, and audit_log are without rowids, because their primary keys
-- would otherwise be indexes of their own, and each entry two rows. The search index, the view, and the triggers are at the end.
CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`plan` text DEFAULT 'free' NOT NULL,
	`created_at` integer NOT NULL,
	`period_start` integer,
	`period_end` integer,
	`plan_until` integer,
	`customer_ref` text,
	`allowed_origins` text DEFAULT '[]' NOT NULL,
	`home_region` text,
	`granted_plan` text,
	`granted_until` integer,
	`suspended_at` integer,
	`erase_at` integer
);
--> statement-breakpoint
CREATE INDEX `accounts_to_erase` ON `accounts` (`erase_at`) WHERE "accounts"."erase_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `known_browsers` (
	`account_id` text NOT NULL,
	`browser_hash` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `browser_hash`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`account_id` text NOT NULL,
	`code_hash` text NOT NULL,
	PRIMARY KEY(`account_id`, `code_hash`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `sessions` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`id` text NOT NULL,
	`last_seen_at` integer NOT NULL,
	`ip` text,
	`user_agent` text,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`account_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `sessions_by_account` ON `sessions` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `throttles` (
	`bucket` text PRIMARY KEY NOT NULL,
	`attempts` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`pending` integer DEFAULT 0 NOT NULL,
	`pending_until` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `throttles_by_expiry` ON `throttles` (`expires_at`);--> statement-breakpoint
CREATE TABLE `user_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`purpose` text NOT NULL,
	`email` text NOT NULL,
	`expires_at` integer NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `user_tokens_by_account` ON `user_tokens` (`account_id`);--> statement-breakpoint
CREATE INDEX `user_tokens_by_expiry` ON `user_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `users` (
	`account_id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`password_hash` text NOT NULL,
	`email_verified_at` integer,
	`password_changed_at` integer,
	`two_factor_secret` text,
	`two_factor_enabled_at` integer,
	`two_factor_last_step` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE INDEX `users_by_sealing_key` ON `users` (`two_factor_secret`) WHERE "users"."two_factor_secret" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`name` text,
	`scope` text NOT NULL,
	`fingerprint` text NOT NULL,
	`sealed` text NOT NULL,
	`secret_id` text NOT NULL,
	`masked_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`deleted_at` integer,
	`allowed_ips` text,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `api_keys_live` ON `api_keys` (`account_id`,`id`) WHERE "api_keys"."deleted_at" IS NULL;--> statement-breakpoint
CREATE INDEX `api_keys_deleted` ON `api_keys` (`account_id`,`deleted_at`) WHERE "api_keys"."deleted_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_by_sealing_key` ON `api_keys` (`sealed`) WHERE "api_keys"."deleted_at" IS NULL;--> statement-breakpoint
CREATE INDEX `api_keys_by_secret` ON `api_keys` (`secret_id`) WHERE "api_keys"."deleted_at" IS NULL;--> statement-breakpoint
CREATE TABLE `audit_log` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`action` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`target` text,
	`ip` text,
	`details` text,
	PRIMARY KEY(`account_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `object_states` (
	`account_id` text NOT NULL,
	`object` text NOT NULL,
	`loading` integer NOT NULL,
	`waiting` integer NOT NULL,
	`failing_endpoints` integer NOT NULL,
	PRIMARY KEY(`account_id`, `object`)
);
--> statement-breakpoint
CREATE TABLE `scheduled_positions` (
	`work` text PRIMARY KEY NOT NULL,
	`position` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `applied_facts` (
	`name` text PRIMARY KEY NOT NULL,
	`applied_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `applied_facts_by_time` ON `applied_facts` (`applied_at`);--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`provider` text NOT NULL,
	`plan` text NOT NULL,
	`status` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`checkout_ref` text,
	`success_url` text,
	`cancel_url` text,
	`created_at` integer NOT NULL,
	`paid_at` integer,
	`checked_at` integer DEFAULT 0 NOT NULL,
	`expire_due_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `payments_by_account` ON `payments` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `payments_pending` ON `payments` (`account_id`) WHERE "payments"."status" = 'pending';--> statement-breakpoint
CREATE INDEX `payments_to_prune` ON `payments` (`created_at`) WHERE "payments"."status" IN ('replaced', 'expired');--> statement-breakpoint
CREATE INDEX `payments_to_check` ON `payments` (`checked_at`) WHERE "payments"."status" = 'pending';--> statement-breakpoint
CREATE INDEX `payments_to_expire` ON `payments` (`expire_due_at`) WHERE "payments"."expire_due_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`provider` text NOT NULL,
	`provider_ref` text NOT NULL,
	`plan` text NOT NULL,
	`status` text NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL,
	`cancelled_at` integer,
	`ends_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`checked_at` integer DEFAULT 0 NOT NULL,
	`check_at` integer GENERATED ALWAYS AS (max(checked_at + 86400000, CASE status WHEN 'past_due' THEN 0 ELSE coalesce(ends_at, period_end) END)) VIRTUAL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_live` ON `subscriptions` (`account_id`) WHERE "subscriptions"."status" <> 'ended';--> statement-breakpoint
CREATE INDEX `subscriptions_to_check` ON `subscriptions` (`check_at`) WHERE "subscriptions"."status" <> 'ended';--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_by_ref` ON `subscriptions` (`provider`,`provider_ref`);--> statement-breakpoint
CREATE TABLE `erasures` (
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`until_ms` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `kind`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `erasures_by_time` ON `erasures` (`created_at`);--> statement-breakpoint
CREATE TABLE `feed` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`ref` text NOT NULL,
	`created_at` integer NOT NULL,
	`payload` text
);
--> statement-breakpoint
CREATE INDEX `feed_by_account` ON `feed` (`account_id`,`seq`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`account_id` text NOT NULL,
	`key` text NOT NULL,
	`request_hash` text NOT NULL,
	`license_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_time` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `license_changes` (
	`account_id` text NOT NULL,
	`license_id` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`before` text NOT NULL,
	`after` text NOT NULL,
	PRIMARY KEY(`account_id`, `license_id`, `seq`)
);
--> statement-breakpoint
CREATE TABLE `license_counts` (
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`expires_at` text NOT NULL,
	`licenses` integer NOT NULL,
	PRIMARY KEY(`account_id`, `status`, `expires_at`)
);
--> statement-breakpoint
CREATE TABLE `license_totals` (
	`account_id` text PRIMARY KEY NOT NULL,
	`licenses` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `licenses` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`license_key` text NOT NULL,
	`status` text NOT NULL,
	`product` text,
	`customer_email` text NOT NULL,
	`customer_name` text,
	`expires_at` text,
	`metadata` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`terms` text DEFAULT '{}' NOT NULL,
	`updates_until` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
-- drizzle-kit splits an expression at its comma, so this index was corrected by hand.
CREATE INDEX `licenses_by_status` ON `licenses` (`account_id`,`status`,"seq" >> 10,coalesce("expires_at", '9999-12-31'));--> statement-breakpoint
CREATE INDEX `licenses_by_product` ON `licenses` (`account_id`,`product`) WHERE "licenses"."product" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `licenses_by_email` ON `licenses` (`account_id`,lower("customer_email"),`seq`);--> statement-breakpoint
CREATE INDEX `licenses_by_expiry` ON `licenses` (`account_id`,`expires_at`,`id`) WHERE "licenses"."status" = 'active' AND "licenses"."expires_at" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `licenses_by_id` ON `licenses` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `licenses_by_key` ON `licenses` (`account_id`,`license_key`);--> statement-breakpoint
CREATE TABLE `search_accounts` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `search_accounts_account_id_unique` ON `search_accounts` (`account_id`);--> statement-breakpoint
CREATE TABLE `products` (
	`account_id` text NOT NULL,
	`code` text NOT NULL,
	`name` text,
	`terms` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `code`)
);
--> statement-breakpoint
-- The search index. A rowid is the account number followed by the `seq` of the license, so that the licenses of an account are
-- next to each other. Two marks stand before each field, so that one or two characters find the fields that begin with them.
CREATE VIRTUAL TABLE `license_trigrams` USING fts5(`words`, content='', contentless_delete=1, detail=none, tokenize='trigram');
--> statement-breakpoint
CREATE VIEW `license_words` AS SELECT
  `seq`,
  ((SELECT `number` FROM `search_accounts` WHERE `account_id` = `licenses`.`account_id`) << 31) + `seq` AS `index_row`,
  char(2, 2) || `license_key` || char(2, 2) || `customer_email` || char(2, 2) || coalesce(`customer_name`, '')
    || char(2, 2) || coalesce(`product`, '') AS `words`
FROM `licenses`;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `search_accounts` (`account_id`) VALUES (new.`account_id`) ON CONFLICT DO NOTHING;
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_update` AFTER UPDATE OF `customer_email`, `customer_name`, `product` ON `licenses` BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = new.`seq`);
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_key` AFTER UPDATE OF `license_key` ON `licenses` BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = new.`seq`);
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_delete` BEFORE DELETE ON `licenses` BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = old.`seq`);
END;
--> statement-breakpoint
-- How many licenses an account has by status and last day. A count of zero is deleted: a license whose last day changes often
-- would otherwise leave a row for each of these days, and the dashboard would read them all.
CREATE TRIGGER `license_counts_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `license_counts` (`account_id`, `status`, `expires_at`, `licenses`)
  VALUES (new.`account_id`, new.`status`, coalesce(new.`expires_at`, ''), 1)
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
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
CREATE TRIGGER `license_counts_delete` AFTER DELETE ON `licenses` BEGIN
  DELETE FROM `license_counts`
  WHERE `account_id` = old.`account_id` AND `status` = old.`status` AND `expires_at` = coalesce(old.`expires_at`, '') AND `licenses` <= 1;
  UPDATE `license_counts` SET `licenses` = `licenses` - 1
  WHERE `account_id` = old.`account_id` AND `status` = old.`status` AND `expires_at` = coalesce(old.`expires_at`, '');
END;
--> statement-breakpoint
CREATE TRIGGER `license_totals_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `license_totals` (`account_id`, `licenses`) VALUES (new.`account_id`, 1)
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `license_totals_delete` AFTER DELETE ON `licenses` BEGIN
  UPDATE `license_totals` SET `licenses` = `licenses` - 1 WHERE `account_id` = old.`account_id`;
END;
