import type { Ledger } from './ledger.ts';
import type { HomeBranches } from './regions/home-branches.ts';
import type { Statistics } from './replies.ts';
import type { UsageAt } from './usage.ts';

/** What the dashboard shows of the gate's counters, with those of its branches as far as they are known. */
export const openStatistics = (
  ledger: Ledger,
  usageAt: UsageAt,
  branches: Pick<HomeBranches, 'counters'>,
) => ({
  read: (fromDate: string, nowMs: number): Statistics => {
    const others = branches.counters();
    const { apiUsage, apiLimit, period } = usageAt(nowMs);
    return {
      apiUsage,
      apiLimit,
      period,
      days: ledger.days(fromDate, others),
      products: ledger.productUsage(period.startMs, others),
      firstValidVerifyMs: ledger.firstValidVerifyMs(),
    };
  },

  /** Returns the times in the order of the ids, with null for a key that was never used. */
  keysLastUsedMs: (keyIds: string[]): (number | null)[] => keyIds.map((keyId) => ledger.keyLastUsedMs(keyId)),
});
