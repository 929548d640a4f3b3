ALTER TABLE `offers` ADD `decide_at` integer;--> statement-breakpoint
CREATE INDEX `offers_to_decide` ON `offers` (`account_id`,`decide_at`) WHERE "offers"."decide_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `offers_due` ON `offers` (`decide_at`) WHERE "offers"."decide_at" IS NOT NULL;
--> statement-breakpoint
-- What was unmapped before is found by an offer, too.
INSERT INTO `purchase_things` (`account_id`, `store_id`, `thing`, `ref`, `purchase_id`)
SELECT DISTINCT sold.`account_id`, sold.`store_id`, 'missing-offer/' || refs.value || '/' || sold.`id`, refs.value, sold.`id`
FROM `purchases` AS sold
JOIN `purchase_facts` AS told ON told.`purchase_id` = sold.`id`,
  json_each(iif(json_valid(told.`fact`), told.`fact`, '{}'), '$.lines') AS lines, json_each(lines.value, '$.refs') AS refs
WHERE sold.`status` = 'unmapped';
--> statement-breakpoint
-- The release before writes no such rows, and runs until this one is deployed. A later release can drop these. Any fact can be
-- what leaves a purchase unmapped, also one that names nothing or replaces another, so the ids are those of all of its facts.
CREATE TRIGGER `purchase_facts_missing_offers` AFTER INSERT ON `purchase_facts`
WHEN EXISTS (SELECT 1 FROM `purchases` WHERE `id` = new.`purchase_id` AND `status` = 'unmapped') BEGIN
  INSERT INTO `purchase_things` (`account_id`, `store_id`, `thing`, `ref`, `purchase_id`)
  SELECT DISTINCT told.`account_id`, told.`store_id`, 'missing-offer/' || refs.value || '/' || told.`purchase_id`, refs.value, told.`purchase_id`
  FROM `purchase_facts` AS told, json_each(iif(json_valid(told.`fact`), told.`fact`, '{}'), '$.lines') AS lines, json_each(lines.value, '$.refs') AS refs
  WHERE told.`purchase_id` = new.`purchase_id` AND NOT EXISTS (SELECT 1 FROM `purchase_things` AS known
    WHERE known.`store_id` = told.`store_id` AND known.`thing` = 'missing-offer/' || refs.value || '/' || told.`purchase_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `purchase_facts_missing_offers_again` AFTER UPDATE OF `fact` ON `purchase_facts`
WHEN EXISTS (SELECT 1 FROM `purchases` WHERE `id` = new.`purchase_id` AND `status` = 'unmapped') BEGIN
  INSERT INTO `purchase_things` (`account_id`, `store_id`, `thing`, `ref`, `purchase_id`)
  SELECT DISTINCT told.`account_id`, told.`store_id`, 'missing-offer/' || refs.value || '/' || told.`purchase_id`, refs.value, told.`purchase_id`
  FROM `purchase_facts` AS told, json_each(iif(json_valid(told.`fact`), told.`fact`, '{}'), '$.lines') AS lines, json_each(lines.value, '$.refs') AS refs
  WHERE told.`purchase_id` = new.`purchase_id` AND NOT EXISTS (SELECT 1 FROM `purchase_things` AS known
    WHERE known.`store_id` = told.`store_id` AND known.`thing` = 'missing-offer/' || refs.value || '/' || told.`purchase_id`);
END;
