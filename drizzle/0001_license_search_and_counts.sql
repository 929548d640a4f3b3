-- Search: any three characters in a row of the key, e-mail, name or product, in any case. Two marks that
-- no field can hold stand before each, so that one or two characters find the fields that begin with them. The account's
-- tail is a column of the index, so that a search meets the rows of its own account only.
CREATE VIRTUAL TABLE `license_search` USING fts5(`account`, `words`, content='', contentless_delete=1, tokenize='trigram');
--> statement-breakpoint
CREATE TRIGGER `license_search_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `license_search` (`rowid`, `account`, `words`) VALUES (
    new.`seq`,
    substr(new.`account_id`, -6),
    char(2, 2) || new.`license_key` || char(2, 2) || new.`customer_email` || char(2, 2) || coalesce(new.`customer_name`, '') || char(2, 2) || coalesce(new.`product`, '')
  );
END;
--> statement-breakpoint
CREATE TRIGGER `license_search_update` AFTER UPDATE OF `customer_email`, `customer_name`, `product` ON `licenses` BEGIN
  DELETE FROM `license_search` WHERE `rowid` = old.`seq`;
  INSERT INTO `license_search` (`rowid`, `account`, `words`) VALUES (
    new.`seq`,
    substr(new.`account_id`, -6),
    char(2, 2) || new.`license_key` || char(2, 2) || new.`customer_email` || char(2, 2) || coalesce(new.`customer_name`, '') || char(2, 2) || coalesce(new.`product`, '')
  );
END;
--> statement-breakpoint
CREATE TRIGGER `license_counts_insert` AFTER INSERT ON `licenses` BEGIN
  INSERT INTO `license_counts` (`account_id`, `status`, `expires_at`, `licenses`)
  VALUES (new.`account_id`, new.`status`, coalesce(new.`expires_at`, ''), 1)
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `license_counts_update` AFTER UPDATE OF `status`, `expires_at` ON `licenses` BEGIN
  UPDATE `license_counts` SET `licenses` = `licenses` - 1
  WHERE `account_id` = old.`account_id` AND `status` = old.`status` AND `expires_at` = coalesce(old.`expires_at`, '');
  INSERT INTO `license_counts` (`account_id`, `status`, `expires_at`, `licenses`)
  VALUES (new.`account_id`, new.`status`, coalesce(new.`expires_at`, ''), 1)
  ON CONFLICT DO UPDATE SET `licenses` = `licenses` + 1;
END;
