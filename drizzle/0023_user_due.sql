ALTER TABLE `accounts` ADD `user_due_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_without_user` ON `accounts` (`user_due_at`) WHERE "accounts"."user_due_at" IS NOT NULL;--> statement-breakpoint
-- Accounts whose user was never committed, as far as this database has the users of its accounts.
UPDATE `accounts` SET `user_due_at` = `created_at` + 3600000
WHERE `erase_at` IS NULL
  AND NOT EXISTS (SELECT 1 FROM `users` WHERE `users`.`account_id` = `accounts`.`id`)
  AND EXISTS (SELECT 1 FROM `users`);
