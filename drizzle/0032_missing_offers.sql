ALTER TABLE `offers` ADD `decide_at` integer;--> statement-breakpoint
CREATE INDEX `offers_to_decide` ON `offers` (`account_id`,`decide_at`) WHERE "offers"."decide_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `offers_due` ON `offers` (`decide_at`) WHERE "offers"."decide_at" IS NOT NULL;
--> statement-breakpoint
-- What was unmapped before is found by an offer, too.
INSERT INTO `purchase_things` (`account_id`, `store_id`, `thing`, `ref`, `purchase_id`)
SELECT DISTINCT sold.`account_id`, sold.`store_id`, 'missing-offer/' || refs.value || '/' || sold.`id`, refs.value, sold.`id`
FROM `purchases` AS sold
JOIN `purchase_facts` AS told ON told.`purchase_id` = sold.`id`,
  json_each(told.`fact`, '$.lines') AS lines, json_each(lines.value, '$.refs') AS refs
WHERE sold.`status` = 'unmapped';
--> statement-breakpoint
-- The release before writes no such rows, and runs until this one is deployed. A later release can drop this.
CREATE TRIGGER `purchase_facts_missing_offers` AFTER INSERT ON `purchase_facts`
WHEN EXISTS (SELECT 1 FROM `purchases` WHERE `id` = new.`purchase_id` AND `status` = 'unmapped') BEGIN
  INSERT INTO `purchase_things` (`account_id`, `store_id`, `thing`, `ref`, `purchase_id`)
  SELECT DISTINCT new.`account_id`, new.`store_id`, 'missing-offer/' || refs.value || '/' || new.`purchase_id`, refs.value, new.`purchase_id`
  FROM json_each(new.`fact`, '$.lines') AS lines, json_each(lines.value, '$.refs') AS refs
  WHERE NOT EXISTS (SELECT 1 FROM `purchase_things` AS known
    WHERE known.`store_id` = new.`store_id` AND known.`thing` = 'missing-offer/' || refs.value || '/' || new.`purchase_id`);
END;
