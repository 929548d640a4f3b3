-- reviewed: loses nothing. Releases since migration 0022 neither write nor read `license_search`, and it still has the words of
-- licenses that are erased. The trigger wrote the history for releases before migration 0007, and would record an erased
-- customer once more.
DROP TRIGGER IF EXISTS `license_changes_update`;
--> statement-breakpoint
DROP TABLE IF EXISTS `license_search`;
