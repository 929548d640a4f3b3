ALTER TABLE `held_notices` ADD `give_up_at` integer;--> statement-breakpoint
CREATE INDEX `held_notices_to_give_up` ON `held_notices` (`give_up_at`) WHERE "held_notices"."give_up_at" IS NOT NULL;