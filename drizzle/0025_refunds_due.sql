ALTER TABLE `payments` ADD `refund_due_at` integer;--> statement-breakpoint
CREATE INDEX `payments_to_refund` ON `payments` (`refund_due_at`) WHERE "payments"."refund_due_at" IS NOT NULL;