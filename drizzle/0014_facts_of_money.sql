ALTER TABLE `payments` ADD `subscription_id` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `period_end` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `refunded_amount` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `failed_at` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `failed_ref` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `disputed_at` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `read_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- The seven days of grace ran from the failure.
UPDATE `subscriptions` SET `failed_at` = (
  SELECT `plan_until` - 604800000 FROM `accounts` WHERE `accounts`.`id` = `subscriptions`.`account_id`
) WHERE `status` = 'past_due';
--> statement-breakpoint
-- What a subscription that goes on was paid with: its first payment is recorded in the commit that begins it.
UPDATE `payments` SET `subscription_id` = `live`.`id`
FROM `subscriptions` AS `live`
WHERE `live`.`account_id` = `payments`.`account_id` AND `live`.`provider` = `payments`.`provider`
  AND `live`.`status` <> 'ended' AND `payments`.`status` = 'paid' AND `payments`.`paid_at` >= `live`.`created_at`;
--> statement-breakpoint
UPDATE `payments` SET `period_end` = `live`.`period_end`
FROM `subscriptions` AS `live`
WHERE `live`.`id` = `payments`.`subscription_id` AND `payments`.`id` = (
  SELECT max(`id`) FROM `payments` AS `last` WHERE `last`.`account_id` = `live`.`account_id` AND `last`.`subscription_id` = `live`.`id`
);
