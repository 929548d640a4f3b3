ALTER TABLE `audit_log` ADD `read_key` text;--> statement-breakpoint
CREATE UNIQUE INDEX `audit_log_reads` ON `audit_log` (`account_id`,`read_key`) WHERE "audit_log"."read_key" IS NOT NULL;