-- reviewed: loses nothing. A session belongs to a user, whose account may be in another database, so its foreign key can't
-- refer to accounts anymore. SQLite needs a new table for that. All rows are copied, no other table refers to sessions, and
-- D1 applies a migration as a whole.
CREATE TABLE `users` (
	`account_id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`password_hash` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
INSERT INTO `users` (`account_id`, `email`, `password_hash`) SELECT `id`, `email`, `password_hash` FROM `accounts`;--> statement-breakpoint
CREATE TABLE `__new_sessions` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`account_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `__new_sessions`("token_hash", "account_id", "created_at", "expires_at") SELECT "token_hash", "account_id", "created_at", "expires_at" FROM `sessions`;--> statement-breakpoint
DROP TABLE `sessions`;--> statement-breakpoint
ALTER TABLE `__new_sessions` RENAME TO `sessions`;--> statement-breakpoint
CREATE INDEX `sessions_by_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `sessions_by_account` ON `sessions` (`account_id`,`created_at`);--> statement-breakpoint
-- The triggers are for the previous release, which runs on until the Worker is deployed, and again after a rollback. It
-- knows no users: it signs in with accounts.email and accounts.password_hash, and registers with an account and a session.
-- This release leaves accounts.password_hash empty. A later release can drop it, both triggers, and accounts_by_email.
-- The error is the one that the previous release expects if the email address is taken.
CREATE TRIGGER `sessions_insert_user` BEFORE INSERT ON `sessions`
WHEN NOT EXISTS (SELECT 1 FROM `users` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'UNIQUE constraint failed: accounts.email') FROM `accounts` CROSS JOIN `users` ON `users`.`email` = `accounts`.`email` WHERE `accounts`.`id` = new.`account_id`;
  INSERT INTO `users` (`account_id`, `email`, `password_hash`) SELECT `id`, `email`, `password_hash` FROM `accounts` WHERE `id` = new.`account_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `users_insert_account` AFTER INSERT ON `users` BEGIN
  UPDATE `accounts` SET `password_hash` = new.`password_hash` WHERE `id` = new.`account_id` AND `password_hash` = '';
END;
