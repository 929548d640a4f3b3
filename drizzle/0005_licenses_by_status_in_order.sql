-- A search knows the order of `seq` only, and among the few of a state it goes by this index.
DROP INDEX `licenses_by_status`;--> statement-breakpoint
CREATE INDEX `licenses_by_status` ON `licenses` (`account_id`,`status`,`seq`);