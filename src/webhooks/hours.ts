const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;

const hourOf = (ms: number) => Math.floor(ms / HOUR_MS);

/** How many attempts succeeded and failed, by the hour: the dashboard's figures without counting rows. */
export const openHours = (sql: SqlStorage) => ({
  count: (ok: boolean, nowMs: number) => {
    sql.exec(
      `INSERT INTO hours (hour, delivered, failed) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
       SET delivered = delivered + excluded.delivered, failed = failed + excluded.failed`,
      hourOf(nowMs),
      ok ? 1 : 0,
      ok ? 0 : 1,
    );
  },

  lastDay: (nowMs: number) =>
    sql
      .exec<{ delivered: number; failed: number }>(
        `SELECT coalesce(sum(delivered), 0) AS delivered, coalesce(sum(failed), 0) AS failed
         FROM hours WHERE hour > ?`,
        hourOf(nowMs) - HOURS_A_DAY,
      )
      .one(),

  forgetBefore: (ms: number) => {
    sql.exec('DELETE FROM hours WHERE hour < ?', hourOf(ms));
  },
});
