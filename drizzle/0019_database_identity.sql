CREATE TABLE `database_identity` (
	`only` integer PRIMARY KEY NOT NULL,
	`service_id` text NOT NULL,
	`binding` text NOT NULL,
	`places` text NOT NULL
);
