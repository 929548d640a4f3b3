import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import type { Ledger } from '../object/ledger.ts';
import type { Outgoing } from '../object/outgoing.ts';
import { secondsUntil } from '../rules/period.ts';
import type { AnnouncementRefusal, CountedChange, Receipt } from '../rules/replies.ts';
import type { Upkeep } from './upkeep.ts';
import type { Usage, UsageAt } from '../rules/usage.ts';

interface Parts {
  ctx: DurableObjectState;
  usageAt: UsageAt;
  noteUsage: (usage: Usage, nowMs: number) => void;
  ledger: Ledger;
  outgoing: Outgoing;
  upkeep: Upkeep;
}

/**
 * Counts and refunds the changes of the account's data. A count and its receipt are written in one turn, because a receipt
 * without its count would refund a call that was never counted.
 */
export const openChanges = ({ ctx, usageAt, noteUsage, ledger, outgoing, upkeep }: Parts) => {
  const writeCounts = () =>
    writeOrRestart(ctx, () => {
      ledger.write();
      outgoing.write();
    });

  /** Counts a call, unless it repeats a counted call whose outcome isn't known yet. */
  const charge = (counted: CountedChange | null) => {
    if (counted === null) return { refused: null, receipt: null } as const;
    const { call, claim } = counted;
    const shared = claim === null ? null : upkeep.receiptOf(claim);
    if (shared) return { refused: null, receipt: shared } as const;
    const nowMs = Date.now();
    const { apiUsage, apiLimit, remaining, period } = usageAt(nowMs);
    if (remaining < 1) {
      const retryAfterSeconds = secondsUntil(period.endMs, nowMs);
      return { refused: 'usage_limit_exceeded', retryAfterSeconds } as const;
    }
    ledger.count(call, period.startMs, nowMs);
    noteUsage({ apiUsage: apiUsage + 1, apiLimit, period }, nowMs);
    const receipt: Receipt = { call, periodStartMs: period.startMs, countedAtMs: nowMs };
    return { refused: null, receipt } as const;
  };

  const refund = (receipts: Receipt[]) => {
    if (receipts.length === 0) return;
    for (const { call, periodStartMs, countedAtMs } of receipts) {
      ledger.refund(call, periodStartMs, countedAtMs);
    }
    writeCounts();
  };

  return {
    /** Notes and counts a change that is about to be committed, unless it was announced already, or refuses it. */
    announce: (token: string, ref: string, counted: CountedChange | null): AnnouncementRefusal | null => {
      if (upkeep.isAnnounced(token)) return null;
      // While D1 fails, the outcomes of more and more changes are unknown. They must stay few enough to store.
      if (upkeep.isFull()) return { refused: 'unavailable', retryAfterSeconds: 5 };
      const charged = charge(counted);
      if (charged.refused !== null) return charged;
      upkeep.announce({ token, ref, receipt: charged.receipt, claim: counted?.claim ?? null });
      if (charged.receipt) writeCounts();
      return null;
    },

    abandon: (token: string) => refund(upkeep.abandon(token)),

    refundUncommitted: (beforeReadMs: number) => refund(upkeep.takeUncommitted(beforeReadMs)),
  };
};

export type Changes = ReturnType<typeof openChanges>;
