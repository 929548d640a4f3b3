CREATE TABLE `license_totals` (
	`account_id` text PRIMARY KEY NOT NULL,
	`licenses` integer NOT NULL
);
--> statement-breakpoint
CREATE TRIGGER `license_totals_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `license_totals` (`account_id`, `licenses`) VALUES (new.`account_id`, 1)
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
--> statement-breakpoint
-- The trigger exists by now, so this counts each license once, whenever it was created.
INSERT INTO `license_totals` (`account_id`, `licenses`)
SELECT `account_id`, sum(`licenses`) FROM `license_counts` WHERE true GROUP BY `account_id`
ON CONFLICT DO UPDATE SET `licenses` = excluded.`licenses`;
