-- Gives a database of version 0.1 the tables of drizzle/0000_base.sql, and marks that migration as applied.
-- docs/running.md says when to run it. It changes nothing unless all migrations of v0.1.0 have been applied.
CREATE TABLE `carry_over` (`is_at_v0_1_0` integer CONSTRAINT `apply the migrations of v0.1.0 first` CHECK (`is_at_v0_1_0`));
--> statement-breakpoint
INSERT INTO `carry_over` SELECT EXISTS (SELECT 1 FROM `d1_migrations` WHERE `name` = '0040_drop_search_before_trigrams.sql');
--> statement-breakpoint
DROP TABLE `carry_over`;
--> statement-breakpoint
-- What only releases before v0.1.0 needed.
DROP TRIGGER `license_changes_update`;
--> statement-breakpoint
DROP TRIGGER `sessions_insert_user`;
--> statement-breakpoint
DROP TRIGGER `users_insert_account`;
--> statement-breakpoint
DROP INDEX `accounts_by_email`;
--> statement-breakpoint
ALTER TABLE `accounts` DROP COLUMN `password_hash`;
--> statement-breakpoint
ALTER TABLE `object_states` RENAME COLUMN `retries` TO `waiting`;
--> statement-breakpoint
-- Sessions that are older than session ids, or than the tags of tokens, end.
ALTER TABLE `sessions` RENAME TO `sessions_of_0_1`;
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
INSERT INTO `sessions` (`token_hash`, `account_id`, `created_at`, `expires_at`, `id`, `last_seen_at`, `ip`, `user_agent`)
SELECT substr(`token_hash`, 2), `account_id`, `created_at`, `expires_at`, `id`, `last_seen_at`, `ip`, `user_agent`
FROM `sessions_of_0_1` WHERE `token_hash` GLOB '~*' AND `id` IS NOT NULL;
--> statement-breakpoint
DROP TABLE `sessions_of_0_1`;
--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);
--> statement-breakpoint
CREATE INDEX `sessions_by_account` ON `sessions` (`account_id`,`created_at`);
--> statement-breakpoint
-- An API key whose entry of API_KEY_SECRET was never noted counts as one that needs an old entry.
ALTER TABLE `api_keys` RENAME TO `api_keys_of_0_1`;
--> statement-breakpoint
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
INSERT INTO `api_keys` (`id`, `account_id`, `name`, `scope`, `fingerprint`, `sealed`, `secret_id`, `masked_key`, `created_at`, `expires_at`, `deleted_at`, `allowed_ips`)
SELECT `id`, `account_id`, `name`, `scope`, `fingerprint`, `sealed`, coalesce(`secret_id`, '?'), `masked_key`, `created_at`, `expires_at`, `deleted_at`, `allowed_ips`
FROM `api_keys_of_0_1`;
--> statement-breakpoint
DROP TABLE `api_keys_of_0_1`;
--> statement-breakpoint
CREATE INDEX `api_keys_live` ON `api_keys` (`account_id`,`id`) WHERE "api_keys"."deleted_at" IS NULL;
--> statement-breakpoint
CREATE INDEX `api_keys_deleted` ON `api_keys` (`account_id`,`deleted_at`) WHERE "api_keys"."deleted_at" IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `api_keys_by_sealing_key` ON `api_keys` (`sealed`) WHERE "api_keys"."deleted_at" IS NULL;
--> statement-breakpoint
CREATE INDEX `api_keys_by_secret` ON `api_keys` (`secret_id`) WHERE "api_keys"."deleted_at" IS NULL;
--> statement-breakpoint
DELETE FROM `d1_migrations`;
--> statement-breakpoint
INSERT INTO `d1_migrations` (`name`) VALUES ('0000_base.sql');
