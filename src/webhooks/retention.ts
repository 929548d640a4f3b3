import { DAY_MS } from '../shared/clock.ts';
import { firstIdAt } from '../shared/ids.ts';
import { openHours } from './hours.ts';

const KEEP_MS = 30 * DAY_MS;
/** However many come, this many events are kept, besides those that still have to be delivered. */
const KEEP_EVENTS = 50_000;
/** Swept at once; what is left over waits for the next sweep. */
const SWEEP = 1_000;

/** The id before which settled events are forgotten. */
const horizon = (sql: SqlStorage, nowMs: number): string => {
  const [beyond] = sql.exec<{ id: string }>(
    'SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?',
    KEEP_EVENTS - 1,
  );
  const tooOld = firstIdAt('evt', nowMs - KEEP_MS);
  return beyond && beyond.id > tooOld ? beyond.id : tooOld;
};

/** Forgets old events with all that became of them; true if there may be more. */
export const sweep = (sql: SqlStorage, nowMs: number): boolean => {
  const old = sql
    .exec<{ id: string }>(
      `SELECT id FROM events WHERE id < ?
       AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = events.id AND status = 'pending')
       ORDER BY id LIMIT ?`,
      horizon(sql, nowMs),
      SWEEP,
    )
    .toArray();
  for (const { id } of old) {
    sql.exec('DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE event_id = ?)', id);
    sql.exec('DELETE FROM deliveries WHERE event_id = ?', id);
    sql.exec('DELETE FROM events WHERE id = ?', id);
  }
  openHours(sql).forgetBefore(nowMs - KEEP_MS);
  return old.length === SWEEP;
};
