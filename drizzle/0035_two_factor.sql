-- Without rowids, because the primary key would otherwise be an index of its own, and a code two rows.
CREATE TABLE `recovery_codes` (
	`account_id` text NOT NULL,
	`code_hash` text NOT NULL,
	PRIMARY KEY(`account_id`, `code_hash`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `users` ADD `two_factor_secret` text;--> statement-breakpoint
ALTER TABLE `users` ADD `two_factor_enabled_at` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `two_factor_last_step` integer;