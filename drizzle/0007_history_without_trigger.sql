-- The Worker writes the history now, in the batch of the change, so that a new field needs no new trigger.
DROP TRIGGER `license_changes_update`;
