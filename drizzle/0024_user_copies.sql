ALTER TABLE `accounts` ADD `user_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `copy_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `copy_due_at` integer;--> statement-breakpoint
CREATE INDEX `users_to_copy` ON `users` (`copy_due_at`) WHERE "users"."copy_due_at" IS NOT NULL;