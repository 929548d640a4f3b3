import { DAY_MS } from '../shared/rules/dates.ts';
import { firstIdAt } from '../shared/ids.ts';
import { openHours } from './hours.ts';

const KEEP_MS = 30 * DAY_MS;
/** However many come, this many events are kept, besides those that still have to be delivered. */
const KEEP_EVENTS = 50_000;
/** Looked at in one go; the rest has a turn of its own, so that nobody waits for all of it. */
const PART = 1_000;
/** A backlog of an endpoint that is down would be gone through in vain with every alarm. */
const EVERY_MS = 10 * 60_000;

/** The id before which settled events are forgotten. */
const horizon = (sql: SqlStorage, nowMs: number): string => {
  const [beyond] = sql.exec<{ id: string }>(
    'SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?',
    KEEP_EVENTS - 1,
  );
  const tooOld = firstIdAt('evt', nowMs - KEEP_MS);
  return beyond && beyond.id > tooOld ? beyond.id : tooOld;
};

export const openRetention = (sql: SqlStorage) => {
  const hours = openHours(sql);
  let nextMs = 0;
  /** What the sweep under way has still to look at. */
  let rest: { after: string; before: string } | null = null;

  const forget = (eventId: string) => {
    sql.exec(
      'DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE event_id = ?)',
      eventId,
    );
    sql.exec('DELETE FROM deliveries WHERE event_id = ?', eventId);
    sql.exec('DELETE FROM events WHERE id = ?', eventId);
  };

  return {
    /** Forgets old events with all that became of them, unless they are still to be delivered. True if there is more. */
    sweep: (nowMs: number): boolean => {
      if (nowMs < nextMs) return false;
      const { after, before } = rest ?? { after: '', before: horizon(sql, nowMs) };
      const old = sql
        .exec<{ id: string; isPending: number }>(
          `SELECT id, EXISTS (SELECT 1 FROM deliveries WHERE event_id = events.id AND status = 'pending') AS isPending
           FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
          after,
          before,
          PART,
        )
        .toArray();
      for (const { id, isPending } of old) if (!isPending) forget(id);
      hours.forgetBefore(nowMs - KEEP_MS);
      const last = old.length === PART ? old.at(-1) : undefined;
      rest = last ? { after: last.id, before } : null;
      if (!rest) nextMs = nowMs + EVERY_MS;
      return rest !== null;
    },
  };
};
