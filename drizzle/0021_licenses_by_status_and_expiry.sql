-- Lets a list of the active licenses skip the expired ones. drizzle-kit splits an expression at its comma, so the index
-- was corrected by hand.
DROP INDEX `licenses_by_status`;--> statement-breakpoint
CREATE INDEX `licenses_by_status` ON `licenses` (`account_id`,`status`,"seq" >> 10,coalesce("expires_at", '9999-12-31'));
