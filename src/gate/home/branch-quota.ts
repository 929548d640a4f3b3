import type { Region } from '../../shared/rules/regions.ts';
import type { Ledger } from '../object/ledger.ts';
import type { BranchStore } from './branch-store.ts';
import {
  escrowOf,
  exposure,
  isRecallable,
  newEscrow,
  type Quota,
  remaining,
  usedByOthers,
} from '../rules/escrow.ts';
import type { PeriodCalls, UsageAt } from '../rules/usage.ts';

/** The usage limit as home sees it: what it has counted itself, and what its branches hold. */
export const openHomeQuota = (
  { records }: Pick<BranchStore, 'records'>,
  ledger: Pick<Ledger, 'periodUsage'>,
  usageAt: UsageAt,
) => {
  const quotaOf = (startMs: number, limit: number): Quota => ({
    limit,
    counted: ledger.periodUsage(startMs),
    escrows: [...records.values()].map(({ escrows }) => escrowOf(escrows, startMs) ?? newEscrow(startMs)),
  });

  /** Returns a branch's escrow among those of the quota. */
  const escrowIn = ({ escrows }: Quota, region: Region) => escrows[[...records.keys()].indexOf(region)];

  return {
    quotaOf,
    escrowIn,

    /**
     * `api_usage` goes back within a region if the Worker turns from a branch to home before the branch has reported its last
     * calls: by those since its last renewal or forward, never by more than it was granted. The next report makes up for it.
     */
    callsIn: (startMs: number, limit: number): PeriodCalls => {
      const quota = quotaOf(startMs, limit);
      return { apiUsage: usedByOthers(quota, undefined), remaining: remaining(quota) };
    },

    /** What home and the other branches have counted in the present period. */
    othersThan: (region: Region, nowMs: number) => {
      const { startMs } = usageAt(nowMs).period;
      const quota = quotaOf(startMs, 0);
      return { periodStartMs: startMs, calls: usedByOthers(quota, escrowIn(quota, region)) };
    },

    /** Calls that home must take for spent in a period, besides those that it has counted itself. */
    exposureIn: (startMs: number): number =>
      quotaOf(startMs, 0).escrows.reduce((sum, escrow) => sum + exposure(escrow), 0),

    /** Returns the branches from which calls can be called back. */
    recallable: (nowMs: number): Region[] => {
      const { startMs } = usageAt(nowMs).period;
      return [...records].flatMap(([region, { escrows }]) => {
        const escrow = escrowOf(escrows, startMs);
        return escrow && isRecallable(escrow) ? [region] : [];
      });
    },
  };
};
