-- Until now, two checkouts that were started at once both stayed pending. The newest stays pending. If an older one is
-- paid anyway, that payment still counts.
UPDATE `payments` SET `status` = 'replaced' WHERE `status` = 'pending' AND EXISTS (
  SELECT 1 FROM `payments` AS `newer`
  WHERE `newer`.`account_id` = `payments`.`account_id` AND `newer`.`status` = 'pending' AND `newer`.`id` > `payments`.`id`
);--> statement-breakpoint
DROP INDEX `payments_pending`;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_pending` ON `payments` (`account_id`) WHERE "payments"."status" = 'pending';
