ALTER TABLE `payments` ADD `checked_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_to_check` ON `payments` (`checked_at`) WHERE "payments"."status" = 'pending';