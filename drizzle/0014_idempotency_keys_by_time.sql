DROP INDEX `idempotency_keys_by_age`;--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_time` ON `idempotency_keys` (`created_at`);