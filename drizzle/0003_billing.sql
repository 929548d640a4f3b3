CREATE TABLE `applied_facts` (
	`name` text PRIMARY KEY NOT NULL,
	`applied_at` integer NOT NULL
);
--> statement-breakpoint
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
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `payments_by_account` ON `payments` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `payments_pending` ON `payments` (`account_id`) WHERE "payments"."status" = 'pending';--> statement-breakpoint
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
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_live` ON `subscriptions` (`account_id`) WHERE "subscriptions"."status" <> 'ended';--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_by_ref` ON `subscriptions` (`provider`,`provider_ref`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `period_start` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `period_end` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `plan_until` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `customer_ref` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `allowed_origins` text DEFAULT '[]' NOT NULL;