-- The search index changes only with the words that it has. An import sets all columns, whether they change or not.
DROP TRIGGER `license_trigrams_key`;
--> statement-breakpoint
DROP TRIGGER `license_trigrams_update`;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_update`
AFTER UPDATE OF `license_key`, `customer_email`, `customer_name`, `customer_company`, `product` ON `licenses`
WHEN (old.`license_key`, old.`customer_email`, old.`customer_name`, old.`customer_company`, old.`product`)
  IS NOT (new.`license_key`, new.`customer_email`, new.`customer_name`, new.`customer_company`, new.`product`)
BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = new.`seq`);
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
--> statement-breakpoint
-- What a row takes in its table and indexes, about. The column is computed when it is read.
ALTER TABLE `license_changes` ADD COLUMN `bytes` integer
  GENERATED ALWAYS AS (120 + octet_length(`before`) + octet_length(`after`)) VIRTUAL;
--> statement-breakpoint
-- The history of a license has at most 200 changes and 64 KiB. The oldest go first.
CREATE TRIGGER `license_changes_bound` AFTER INSERT ON `license_changes` BEGIN
  DELETE FROM `license_changes`
  WHERE `account_id` = new.`account_id` AND `license_id` = new.`license_id` AND `seq` <= (
    SELECT max(`seq`) FROM (
      SELECT `seq`, row_number() OVER latest AS `changes`, sum(`bytes`) OVER latest AS `held`
      FROM `license_changes` WHERE `account_id` = new.`account_id` AND `license_id` = new.`license_id`
      WINDOW latest AS (ORDER BY `seq` DESC)
    )
    WHERE `changes` > 200 OR `held` > 65536
  );
END;
