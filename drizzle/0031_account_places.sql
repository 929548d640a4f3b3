CREATE TABLE `account_places` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`binding` text NOT NULL,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `account_places_id_unique` ON `account_places` (`id`);--> statement-breakpoint
CREATE TABLE `moved_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`other` text,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `moved_accounts_on_the_way` ON `moved_accounts` (`state`) WHERE "moved_accounts"."state" IN ('leaving', 'arriving');