CREATE TABLE `portal_email_changes` (
	`account_id` text NOT NULL,
	`email` text NOT NULL,
	`id` text NOT NULL,
	`new_email` text NOT NULL,
	`license_id` text,
	`from_confirmed_at` integer,
	`to_confirmed_at` integer,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `email`)
);
--> statement-breakpoint
CREATE INDEX `portal_email_changes_by_new` ON `portal_email_changes` (`account_id`,`new_email`);--> statement-breakpoint
CREATE INDEX `portal_email_changes_by_expiry` ON `portal_email_changes` (`expires_at`);--> statement-breakpoint
CREATE INDEX `portal_email_changes_to_make` ON `portal_email_changes` (`expires_at`) WHERE "portal_email_changes"."from_confirmed_at" IS NOT NULL AND "portal_email_changes"."to_confirmed_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `portal_sessions` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`email` text NOT NULL,
	`license_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`ip` text,
	`user_agent` text
);
--> statement-breakpoint
CREATE INDEX `portal_sessions_by_customer` ON `portal_sessions` (`account_id`,`email`,`created_at`);--> statement-breakpoint
CREATE INDEX `portal_sessions_by_expiry` ON `portal_sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `portal_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`purpose` text NOT NULL,
	`email` text NOT NULL,
	`license_id` text,
	`change_id` text,
	`return_url` text,
	`expires_at` integer NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `portal_tokens_by_customer` ON `portal_tokens` (`account_id`,`email`);--> statement-breakpoint
CREATE INDEX `portal_tokens_by_expiry` ON `portal_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `portals` (
	`account_id` text PRIMARY KEY NOT NULL,
	`slug` text,
	`former_slug` text,
	`former_until` integer,
	`enabled` integer NOT NULL,
	`name` text,
	`accent_color` text,
	`support_url` text,
	`allow` text NOT NULL,
	`products` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `portals_slug_unique` ON `portals` (`slug`);--> statement-breakpoint
CREATE INDEX `portals_by_former_slug` ON `portals` (`former_slug`) WHERE "portals"."former_slug" IS NOT NULL;