ALTER TABLE `accounts` ADD `granted_plan` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `granted_until` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `suspended_at` integer;