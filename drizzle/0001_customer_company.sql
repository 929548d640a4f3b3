ALTER TABLE `licenses` ADD `customer_company` text;
--> statement-breakpoint
-- The search also finds licenses by the company. No license has one yet, so none needs to be indexed again.
DROP TRIGGER `license_trigrams_update`;
--> statement-breakpoint
DROP VIEW `license_words`;
--> statement-breakpoint
CREATE VIEW `license_words` AS SELECT
  `seq`,
  ((SELECT `number` FROM `search_accounts` WHERE `account_id` = `licenses`.`account_id`) << 31) + `seq` AS `index_row`,
  char(2, 2) || `license_key` || char(2, 2) || `customer_email` || char(2, 2) || coalesce(`customer_name`, '')
    || char(2, 2) || coalesce(`customer_company`, '') || char(2, 2) || coalesce(`product`, '') AS `words`
FROM `licenses`;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_update` AFTER UPDATE OF `customer_email`, `customer_name`, `customer_company`, `product` ON `licenses` BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = new.`seq`);
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
