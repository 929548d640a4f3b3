CREATE INDEX `licenses_by_product` ON `licenses` (`account_id`,`product`) WHERE "licenses"."product" IS NOT NULL;
