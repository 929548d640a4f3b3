ALTER TABLE `payments` ADD `expire_due_at` integer;--> statement-breakpoint
CREATE INDEX `payments_to_expire` ON `payments` (`expire_due_at`) WHERE "payments"."expire_due_at" IS NOT NULL;