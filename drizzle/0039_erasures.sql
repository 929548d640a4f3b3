CREATE TABLE `erasures` (
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`until_ms` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `kind`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `erasures_by_time` ON `erasures` (`created_at`);