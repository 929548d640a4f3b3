CREATE TABLE `held_notices` (
	`email` text NOT NULL,
	`subject` text NOT NULL,
	`account_id` text NOT NULL,
	`content` text NOT NULL,
	`times` integer DEFAULT 1 NOT NULL,
	`due_at` integer NOT NULL,
	PRIMARY KEY(`email`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `held_notices_by_time` ON `held_notices` (`due_at`);