DROP INDEX `licenses_by_expiry`;--> statement-breakpoint
CREATE INDEX `licenses_by_expiry` ON `licenses` (`account_id`,`expires_at`,`id`) WHERE "licenses"."expires_at" IS NOT NULL;