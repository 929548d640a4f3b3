ALTER TABLE `throttles` ADD `pending` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `sessions_by_account` ON `sessions` (`account_id`,`created_at`);