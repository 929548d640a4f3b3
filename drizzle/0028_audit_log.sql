-- Without rowids, because the primary key would otherwise be an index of its own, and an entry two rows.
CREATE TABLE `audit_log` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`action` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`target` text,
	`ip` text,
	`details` text,
	PRIMARY KEY(`account_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `scheduled_positions` (
	`work` text PRIMARY KEY NOT NULL,
	`position` text NOT NULL
);
