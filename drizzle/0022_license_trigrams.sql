-- The search index, with an account's licenses next to each other: a rowid is the account's number followed by the
-- license's `seq`. Two marks stand before each field, so that one or two characters find the fields that begin with them.
-- The triggers of `license_search` go, because both indexes together would double the cost of a create. That table stays
-- for the previous release, which can search it until the deployment is complete.
CREATE TABLE `search_accounts` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `search_accounts_account_id_unique` ON `search_accounts` (`account_id`);
--> statement-breakpoint
CREATE VIEW `license_words` AS SELECT
  `seq`,
  ((SELECT `number` FROM `search_accounts` WHERE `account_id` = `licenses`.`account_id`) << 31) + `seq` AS `index_row`,
  char(2, 2) || `license_key` || char(2, 2) || `customer_email` || char(2, 2) || coalesce(`customer_name`, '')
    || char(2, 2) || coalesce(`product`, '') AS `words`
FROM `licenses`;
--> statement-breakpoint
CREATE VIRTUAL TABLE `license_trigrams` USING fts5(`words`, content='', contentless_delete=1, detail=none, tokenize='trigram');
--> statement-breakpoint
DROP TRIGGER `license_search_insert`;
--> statement-breakpoint
DROP TRIGGER `license_search_update`;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `search_accounts` (`account_id`) VALUES (new.`account_id`) ON CONFLICT DO NOTHING;
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_update` AFTER UPDATE OF `customer_email`, `customer_name`, `product` ON `licenses` BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = new.`seq`);
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
--> statement-breakpoint
INSERT INTO `search_accounts` (`account_id`) SELECT `account_id` FROM `license_totals` WHERE true ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- Indexes the existing licenses, 250,000 per statement, because D1 ends a statement after 30 seconds.
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 0 AND 249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 250000 AND 499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 500000 AND 749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 750000 AND 999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 1000000 AND 1249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 1250000 AND 1499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 1500000 AND 1749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 1750000 AND 1999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 2000000 AND 2249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 2250000 AND 2499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 2500000 AND 2749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 2750000 AND 2999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 3000000 AND 3249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 3250000 AND 3499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 3500000 AND 3749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 3750000 AND 3999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 4000000 AND 4249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 4250000 AND 4499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 4500000 AND 4749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 4750000 AND 4999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 5000000 AND 5249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 5250000 AND 5499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 5500000 AND 5749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 5750000 AND 5999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 6000000 AND 6249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 6250000 AND 6499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 6500000 AND 6749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 6750000 AND 6999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 7000000 AND 7249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 7250000 AND 7499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 7500000 AND 7749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 7750000 AND 7999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 8000000 AND 8249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 8250000 AND 8499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 8500000 AND 8749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 8750000 AND 8999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 9000000 AND 9249999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 9250000 AND 9499999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 9500000 AND 9749999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
--> statement-breakpoint
INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` BETWEEN 9750000 AND 9999999 AND NOT EXISTS (SELECT 1 FROM `license_trigrams` WHERE `rowid` = `index_row`) ORDER BY `index_row`;
