import { type Backup, openBackup } from '../shared/objects/backup.ts';
import type { ObjectContext } from '../shared/objects/context.ts';
import { tellGateAnew } from './gate-subscription.ts';
import { OUTBOX_TABLES } from './tables.ts';

/**
 * Makes restored rows fit together. Each page of a backup was as of its own time, so a row may refer to one that was deleted
 * before it was read, and what is derived from the deliveries may be later than they are: it is derived from them again.
 */
const FIT_TOGETHER = `
  DELETE FROM deliveries WHERE endpoint_id NOT IN (SELECT id FROM endpoints)
    OR (block_id, event_id) NOT IN (SELECT last_id, value ->> 'id' FROM event_blocks, json_each(events));
  DELETE FROM lanes WHERE endpoint_id NOT IN (SELECT id FROM endpoints);
  -- Disabling an endpoint has canceled them.
  UPDATE deliveries SET status = 'failed' WHERE status = 'pending'
    AND endpoint_id IN (SELECT id FROM endpoints WHERE value ->> 'disabledReason' IS NOT NULL);
  -- No attempt is under way, and each pending delivery waits for its time.
  INSERT OR IGNORE INTO lanes SELECT id, '{}' FROM endpoints;
  UPDATE lanes SET value = json_set(value, '$.leases', json('[]'), '$.takenThrough',
    coalesce((SELECT max(id) FROM deliveries WHERE deliveries.endpoint_id = lanes.endpoint_id), ''));
  DELETE FROM retries;
  INSERT INTO retries (endpoint_id, due_at_ms, id)
    SELECT endpoint_id, due_at_ms, id FROM deliveries WHERE status = 'pending';`;

/** Backs up and restores what an outbox owns. */
export const openOutboxBackup = (object: ObjectContext): Backup => {
  const { sql, kv } = object.ctx.storage;
  return openBackup(object, {
    tables: OUTBOX_TABLES,
    onRestored: () => {
      tellGateAnew(kv);
      sql.exec(FIT_TOGETHER);
    },
  });
};
