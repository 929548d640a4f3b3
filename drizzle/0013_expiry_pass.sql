CREATE TABLE `expiry_pass` (
	`id` integer PRIMARY KEY NOT NULL,
	`day` text NOT NULL,
	`account_id` text NOT NULL,
	`step` integer NOT NULL,
	`license_id` text NOT NULL,
	`told_through` text NOT NULL
);
