-- Email addresses are unique among users. Outside the first database, a registration that was cut off leaves an account
-- without a user, whose email address can be registered again. The previous release still looks accounts up by email.
DROP INDEX `accounts_email_unique`;--> statement-breakpoint
CREATE INDEX `accounts_by_email` ON `accounts` (`email`);
