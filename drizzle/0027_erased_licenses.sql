-- Licenses can be deleted, and their keys replaced: the counts and the search index follow.
CREATE TRIGGER `license_trigrams_delete` BEFORE DELETE ON `licenses` BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = old.`seq`);
END;
--> statement-breakpoint
CREATE TRIGGER `license_trigrams_key` AFTER UPDATE OF `license_key` ON `licenses` BEGIN
  DELETE FROM `license_trigrams` WHERE `rowid` = (SELECT `index_row` FROM `license_words` WHERE `seq` = new.`seq`);
  INSERT INTO `license_trigrams` (`rowid`, `words`) SELECT `index_row`, `words` FROM `license_words` WHERE `seq` = new.`seq`;
END;
--> statement-breakpoint
CREATE TRIGGER `license_counts_delete` AFTER DELETE ON `licenses` BEGIN
  DELETE FROM `license_counts`
  WHERE `account_id` = old.`account_id` AND `status` = old.`status` AND `expires_at` = coalesce(old.`expires_at`, '') AND `licenses` <= 1;
  UPDATE `license_counts` SET `licenses` = `licenses` - 1
  WHERE `account_id` = old.`account_id` AND `status` = old.`status` AND `expires_at` = coalesce(old.`expires_at`, '');
END;
--> statement-breakpoint
CREATE TRIGGER `license_totals_delete` AFTER DELETE ON `licenses` BEGIN
  UPDATE `license_totals` SET `licenses` = `licenses` - 1 WHERE `account_id` = old.`account_id`;
END;
