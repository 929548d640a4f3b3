CREATE TABLE `object_states` (
	`account_id` text NOT NULL,
	`object` text NOT NULL,
	`loading` integer NOT NULL,
	`retries` integer NOT NULL,
	`failing_endpoints` integer NOT NULL,
	PRIMARY KEY(`account_id`, `object`)
);
