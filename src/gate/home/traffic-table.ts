import { addDays as addToDate, isoDate } from '../../shared/rules/dates.ts';
import { addDays, type DayTraffic, mergeDays, type Traffic, TRAFFIC_DAYS } from '../rules/traffic.ts';

/** Stands for home itself, with the branches that are closed. */
const HOME = 0;

/** Home's traffic of past days, and that of its open branches, by the numbers of their openings. */
export const openTrafficTable = (sql: SqlStorage) => {
  const read = (date: string, opening: number): DayTraffic => {
    const [row] = sql.exec<{ routes: string }>(
      'SELECT routes FROM region_traffic WHERE date = ? AND opening = ?',
      date,
      opening,
    );
    return row ? (JSON.parse(row.routes) as DayTraffic) : {};
  };

  const save = (date: string, opening: number, routes: DayTraffic) =>
    sql.exec(
      `INSERT INTO region_traffic (date, opening, routes) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET routes = excluded.routes WHERE routes <> excluded.routes`,
      date,
      opening,
      JSON.stringify(routes),
    );

  const add = (date: string, routes: DayTraffic) => save(date, HOME, addDays(read(date, HOME), routes));

  return {
    /** Adds home's own traffic, as part of the current transaction. */
    addPast: (days: Traffic, nowMs: number) => {
      for (const [date, routes] of Object.entries(days)) add(date, routes);
      sql.exec('DELETE FROM region_traffic WHERE date < ?', addToDate(isoDate(nowMs), 1 - TRAFFIC_DAYS));
    },

    /** Merges what a branch has reported, as part of the current transaction. */
    hear: (opening: number, days: Traffic) => {
      for (const [date, routes] of Object.entries(days))
        save(date, opening, mergeDays(read(date, opening), routes));
    },

    /** Adds what a closed branch has reported to home's, as part of the current transaction. */
    takeOver: (opening: number) => {
      const rows = sql.exec<{ date: string; routes: string }>(
        'DELETE FROM region_traffic WHERE opening = ? RETURNING date, routes',
        opening,
      );
      for (const { date, routes } of rows.toArray()) add(date, JSON.parse(routes) as DayTraffic);
    },

    /** Returns the sum of the days from a date on. */
    readFrom: (fromDate: string): DayTraffic =>
      sql
        .exec<{ routes: string }>('SELECT routes FROM region_traffic WHERE date >= ?', fromDate)
        .toArray()
        .reduce((sum, { routes }) => addDays(sum, JSON.parse(routes) as DayTraffic), {}),
  };
};

export type TrafficTable = ReturnType<typeof openTrafficTable>;
