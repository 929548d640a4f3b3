import { DAY_MS } from '../shared/rules/dates.ts';
import { firstIdAt } from '../shared/ids.ts';
import { openHourlyCounts } from './hours.ts';

const RETENTION_MS = 30 * DAY_MS;
/** Older events are deleted beyond this number, unless they have a pending delivery. */
const MAX_EVENTS = 50_000;
/** Events scanned per alarm. A sweep spans several alarms, so that it doesn't block other calls. */
const BATCH_SIZE = 1_000;
/** While an endpoint is down its backlog can't be deleted, so scanning it on every alarm would be wasteful. */
const SWEEP_INTERVAL_MS = 10 * 60_000;

/** Returns the id of the oldest event to keep. */
const oldestKeptId = (sql: SqlStorage, nowMs: number): string => {
  const [oldestByCount] = sql.exec<{ id: string }>(
    'SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?',
    MAX_EVENTS - 1,
  );
  const oldestByAge = firstIdAt('evt', nowMs - RETENTION_MS);
  return oldestByCount && oldestByCount.id > oldestByAge ? oldestByCount.id : oldestByAge;
};

export const openRetention = (sql: SqlStorage) => {
  const hourlyCounts = openHourlyCounts(sql);
  let nextSweepMs = 0;
  /** The id range that the current sweep has not scanned yet. */
  let remaining: { after: string; before: string } | null = null;

  const deleteEvent = (eventId: string) => {
    sql.exec(
      'DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE event_id = ?)',
      eventId,
    );
    sql.exec('DELETE FROM deliveries WHERE event_id = ?', eventId);
    sql.exec('DELETE FROM events WHERE id = ?', eventId);
  };

  return {
    /** Deletes old events with their deliveries and attempts, unless one is pending. Returns true if there are more. */
    sweep: (nowMs: number): boolean => {
      if (nowMs < nextSweepMs) return false;
      const { after, before } = remaining ?? { after: '', before: oldestKeptId(sql, nowMs) };
      const old = sql
        .exec<{ id: string; isPending: number }>(
          `SELECT id, EXISTS (SELECT 1 FROM deliveries WHERE event_id = events.id AND status = 'pending') AS isPending
           FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
          after,
          before,
          BATCH_SIZE,
        )
        .toArray();
      for (const { id, isPending } of old) if (!isPending) deleteEvent(id);
      hourlyCounts.deleteBefore(nowMs - RETENTION_MS);
      const last = old.length === BATCH_SIZE ? old.at(-1) : undefined;
      remaining = last ? { after: last.id, before } : null;
      if (!remaining) nextSweepMs = nowMs + SWEEP_INTERVAL_MS;
      return remaining !== null;
    },
  };
};
