import { addDays, isoDate } from '../../shared/rules/dates.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { newEvent } from '../../shared/text/events.ts';
import type { Ledger } from '../object/ledger.ts';
import type { Outgoing } from '../object/outgoing.ts';
import {
  escrowOf,
  exposure,
  isRecallable,
  newEscrow,
  type Quota,
  remaining,
  usedByOthers,
} from '../rules/limits.ts';
import {
  sumDays,
  type DayTraffic,
  mergeDays,
  type RegionStatistics,
  type Traffic,
  TRAFFIC_DAYS,
} from '../rules/traffic.ts';
import {
  limitAt,
  limitThrough,
  type Statistics,
  thresholdOf,
  type Usage,
  type UsageAt,
} from '../rules/usage.ts';
import type { AnnouncedChanges, Reservation } from './announced.ts';
import type { BranchStore } from './branch-store.ts';
import type { Copy } from './copy.ts';

/** What home has counted. */
interface Counted {
  ledger: Ledger;
  branches: BranchStore;
}

interface CountedNow extends Counted {
  copy: Copy;
  outgoing: Outgoing;
  announced: AnnouncedChanges;
}

/** The usage limit as home sees it: what it has counted and reserved itself, and what its branches hold. */
export const openHomeUsage = ({ copy, ledger, outgoing, announced, branches }: CountedNow) => {
  const { records } = branches;

  const quotaOf = (startMs: number, limit: number): Quota => ({
    limit,
    counted: ledger.periodUsage(startMs) + announced.reserved(startMs),
    escrows: [...records.values()].map(({ escrows }) => escrowOf(escrows, startMs) ?? newEscrow(startMs)),
  });

  /** Returns a branch's escrow among those of the quota. */
  const escrowIn = ({ escrows }: Quota, region: Region) => escrows[[...records.keys()].indexOf(region)];

  const account = () => {
    const known = copy.account();
    if (!known) throw new Error('The gate has no copy of its account.');
    return known;
  };

  /** The present period's quota for a branch that is leased until a time, and goes by no plan that ends before. */
  const quotaThrough = (nowMs: number, untilMs: number): Quota =>
    quotaOf(limitAt(account(), nowMs).period.startMs, limitThrough(account(), nowMs, untilMs));

  /**
   * `api_usage` goes back within a region if the Worker turns from a branch to home before the branch has reported its last
   * calls: by those since its last renewal or forward, never by more than it was granted. The next report makes up for it.
   */
  const at: UsageAt = (nowMs) => {
    const { apiLimit, period } = limitAt(account(), nowMs);
    const quota = quotaOf(period.startMs, apiLimit);
    return { apiLimit, period, apiUsage: usedByOthers(quota, undefined), remaining: remaining(quota) };
  };

  /** Queues `usage.threshold` when a counted call has reached a threshold, once in a period. */
  const note = (usage: Usage, nowMs: number): void => {
    const percent = thresholdOf(usage);
    if (percent === null) return;
    const { apiUsage, apiLimit, period } = usage;
    const email = copy.account()?.email;
    if (email === undefined || !ledger.noteThreshold(period.startMs, percent, nowMs)) return;
    const fields = { percent, api_usage: apiUsage, api_limit: apiLimit, customer_email: email };
    outgoing.add(newEvent('usage.threshold', nowMs, fields));
  };

  return {
    at,
    note,
    quotaOf,
    quotaThrough,
    escrowIn,

    /** Counts calls whose changes were committed, in the period and on the day in which they were reserved. */
    countReserved: (reservations: Reservation[]): void => {
      const nowMs = Date.now();
      for (const { call, periodStartMs, atMs } of reservations) {
        ledger.count(call, periodStartMs, atMs);
        if (!copy.account()) continue;
        const usage = at(nowMs);
        // Other calls that are reserved are noted in their turn.
        const apiUsage = usage.apiUsage - announced.reserved(usage.period.startMs);
        note({ ...usage, apiUsage }, nowMs);
      }
    },

    /** What home and the other branches have counted in the present period. */
    othersThan: (region: Region, nowMs: number) => {
      const { startMs } = at(nowMs).period;
      const quota = quotaOf(startMs, 0);
      return { periodStartMs: startMs, calls: usedByOthers(quota, escrowIn(quota, region)) };
    },

    /** Calls that home must treat as spent in a period, besides those that it has counted itself. */
    exposureIn: (startMs: number): number =>
      quotaOf(startMs, 0).escrows.reduce((sum, escrow) => sum + exposure(escrow), 0),

    /** Returns the branches from which calls can be called back. */
    recallable: (nowMs: number): Region[] => {
      const { startMs } = at(nowMs).period;
      return [...records].flatMap(([region, { escrows }]) => {
        const escrow = escrowOf(escrows, startMs);
        return escrow && isRecallable(escrow) ? [region] : [];
      });
    },
  };
};

export type HomeUsage = ReturnType<typeof openHomeUsage>;

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

  const add = (date: string, routes: DayTraffic) => save(date, HOME, sumDays(read(date, HOME), routes));

  return {
    /** Adds home's own traffic, as part of the current transaction. */
    addPast: (days: Traffic, nowMs: number) => {
      for (const [date, routes] of Object.entries(days)) add(date, routes);
      sql.exec('DELETE FROM region_traffic WHERE date < ?', addDays(isoDate(nowMs), 1 - TRAFFIC_DAYS));
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
        .reduce((sum, { routes }) => sumDays(sum, JSON.parse(routes) as DayTraffic), {}),
  };
};

export type TrafficTable = ReturnType<typeof openTrafficTable>;

/** What the dashboard shows of the gate's counters, with those of its branches as far as they are known. */
export const openStatistics = (
  { ledger, traffic, branches }: Counted & { traffic: TrafficTable },
  usage: HomeUsage,
) => ({
  read: (fromDate: string, nowMs: number): Statistics => {
    const others = branches.counters();
    const { apiUsage, apiLimit, period } = usage.at(nowMs);
    return {
      apiUsage,
      apiLimit,
      period,
      days: ledger.days(fromDate, others),
      products: ledger.productUsage(period.startMs, others),
      firstValidVerifyMs: ledger.firstValidVerifyMs(),
    };
  },

  /** Returns the open branches, and the calls by region from a date on. Without a date, only the branches. */
  readRegions: (fromDate: string | null): RegionStatistics => {
    const current = Object.entries(ledger.traffic.days()).filter(([date]) => fromDate && date >= fromDate);
    const past = fromDate === null ? {} : traffic.readFrom(fromDate);
    return {
      branches: branches.list(),
      routes: current.reduce((sum, [, routes]) => sumDays(sum, routes), past),
    };
  },

  /** Returns the times in the order of the ids, with null for a key that was never used. */
  keysLastUsedMs: (keyIds: string[]): (number | null)[] => keyIds.map((keyId) => ledger.keyLastUsedMs(keyId)),
});
