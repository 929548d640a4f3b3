import type { RegionStatistics, Statistics } from '../rules/replies.ts';
import { addDays } from '../rules/traffic.ts';
import type { HomeStore } from './store.ts';
import type { HomeUsage } from './usage.ts';

/** What the dashboard shows of the gate's counters, with those of its branches as far as they are known. */
export const openStatistics = ({ ledger, traffic, branches }: HomeStore, usage: HomeUsage) => ({
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
      routes: current.reduce((sum, [, routes]) => addDays(sum, routes), past),
    };
  },

  /** Returns the times in the order of the ids, with null for a key that was never used. */
  keysLastUsedMs: (keyIds: string[]): (number | null)[] => keyIds.map((keyId) => ledger.keyLastUsedMs(keyId)),
});
