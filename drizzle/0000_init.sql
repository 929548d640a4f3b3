CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`password_hash` text NOT NULL,
	`plan` text DEFAULT 'free' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_email_unique` ON `accounts` (`email`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`name` text,
	`scope` text NOT NULL,
	`fingerprint` text NOT NULL,
	`sealed` text NOT NULL,
	`masked_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`deleted_at` integer,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `api_keys_live` ON `api_keys` (`account_id`,`id`) WHERE "api_keys"."deleted_at" IS NULL;--> statement-breakpoint
CREATE TABLE `feed` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`ref` text NOT NULL,
	`created_at` integer NOT NULL
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
CREATE INDEX `idempotency_keys_by_age` ON `idempotency_keys` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `license_counts` (
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`expires_at` text NOT NULL,
	`licenses` integer NOT NULL,
	PRIMARY KEY(`account_id`, `status`, `expires_at`)
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
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `licenses_by_status` ON `licenses` (`account_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `licenses_by_expiry` ON `licenses` (`account_id`,`expires_at`,`id`) WHERE "licenses"."status" = 'active' AND "licenses"."expires_at" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `licenses_by_id` ON `licenses` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `licenses_by_key` ON `licenses` (`account_id`,`license_key`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `throttles` (
	`bucket` text PRIMARY KEY NOT NULL,
	`attempts` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `throttles_by_expiry` ON `throttles` (`expires_at`);