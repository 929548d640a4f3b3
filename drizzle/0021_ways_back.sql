ALTER TABLE `users` ADD `two_factor_reset_at` integer;--> statement-breakpoint
CREATE INDEX `user_tokens_by_restored_email` ON `user_tokens` (`email`) WHERE "user_tokens"."purpose" = 'restore_email';