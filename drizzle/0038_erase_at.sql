ALTER TABLE `accounts` ADD `erase_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_to_erase` ON `accounts` (`erase_at`) WHERE "accounts"."erase_at" IS NOT NULL;