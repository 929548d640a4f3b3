import type { Ledger } from './ledger.ts';
import type { Statistics } from './replies.ts';
import type { UsageAt } from './usage.ts';

/** What the dashboard shows of the gate's counters. */
export const openStatistics = (ledger: Ledger, usageAt: UsageAt) => ({
  read: (fromDate: string, nowMs: number): Statistics => {
    const { apiUsage, apiLimit, period } = usageAt(nowMs);
    return {
      apiUsage,
      apiLimit,
      period,
      days: ledger.days(fromDate),
      products: ledger.productUsage(period.startMs),
      firstValidVerifyMs: ledger.firstValidVerifyMs(),
    };
  },

  /** Returns the times in the order of the ids, with null for a key that was never used. */
  keysLastUsedMs: (keyIds: string[]): (number | null)[] => keyIds.map((keyId) => ledger.keyLastUsedMs(keyId)),
});
