ALTER TABLE `accounts` ADD `muted_emails` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `license_totals` ADD `told_licenses` integer;--> statement-breakpoint
ALTER TABLE `license_totals` ADD `told_bytes` integer;