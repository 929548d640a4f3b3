import { HOUR_MS } from '../shared/rules/dates.ts';
import type { Lanes } from './outbox-tables.ts';

const HOURS_PER_DAY = 24;

const toHour = (ms: number) => Math.floor(ms / HOUR_MS);

/**
 * Counts successful and failed attempts per hour, so that the dashboard doesn't have to count rows. An endpoint's row
 * of lanes holds its current hour, and the table holds the hours before.
 */
export const openHourlyCounts = (sql: SqlStorage) => {
  /** Moves an endpoint's counts to the table. */
  const close = ({ hour, delivered, failed }: Lanes) => {
    if (delivered + failed === 0) return;
    sql.exec(
      `INSERT INTO hours (hour, delivered, failed) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
       SET delivered = delivered + excluded.delivered, failed = failed + excluded.failed`,
      hour,
      delivered,
      failed,
    );
  };

  return {
    close,

    /** Counts an attempt in the endpoint's lanes. */
    add: (lanes: Lanes, ok: boolean, nowMs: number) => {
      const hour = toHour(nowMs);
      if (hour !== lanes.hour) {
        close(lanes);
        Object.assign(lanes, { hour, delivered: 0, failed: 0 });
      }
      lanes[ok ? 'delivered' : 'failed'] += 1;
    },

    /** Takes the lanes of all endpoints, whose rows may be behind. */
    sumLastDay: (lanes: Lanes[], nowMs: number) => {
      const afterHour = toHour(nowMs) - HOURS_PER_DAY;
      const sums = sql
        .exec<{ delivered: number; failed: number }>(
          `SELECT coalesce(sum(delivered), 0) AS delivered, coalesce(sum(failed), 0) AS failed
           FROM hours WHERE hour > ?`,
          afterHour,
        )
        .one();
      for (const { hour, delivered, failed } of lanes) {
        if (hour <= afterHour) continue;
        sums.delivered += delivered;
        sums.failed += failed;
      }
      return sums;
    },

    deleteBefore: (ms: number) => {
      sql.exec('DELETE FROM hours WHERE hour < ?', toHour(ms));
    },
  };
};
