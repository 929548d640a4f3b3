import { HOUR_MS } from '../shared/rules/dates.ts';

const HOURS_PER_DAY = 24;

const toHour = (ms: number) => Math.floor(ms / HOUR_MS);

/** Counts successful and failed attempts per hour, so that the dashboard doesn't have to count rows. */
export const openHourlyCounts = (sql: SqlStorage) => ({
  add: (ok: boolean, nowMs: number) => {
    sql.exec(
      `INSERT INTO hours (hour, delivered, failed) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
       SET delivered = delivered + excluded.delivered, failed = failed + excluded.failed`,
      toHour(nowMs),
      ok ? 1 : 0,
      ok ? 0 : 1,
    );
  },

  sumLastDay: (nowMs: number) =>
    sql
      .exec<{ delivered: number; failed: number }>(
        `SELECT coalesce(sum(delivered), 0) AS delivered, coalesce(sum(failed), 0) AS failed
         FROM hours WHERE hour > ?`,
        toHour(nowMs) - HOURS_PER_DAY,
      )
      .one(),

  deleteBefore: (ms: number) => {
    sql.exec('DELETE FROM hours WHERE hour < ?', toHour(ms));
  },
});
