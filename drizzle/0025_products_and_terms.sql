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
ALTER TABLE `licenses` ADD `terms` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `licenses` ADD `updates_until` text;
