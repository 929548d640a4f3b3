-- reviewed: loses nothing. Releases since migration 0022 neither write nor read `license_search`, and it still has the words of
-- licenses that are erased.
DROP TABLE IF EXISTS `license_search`;
