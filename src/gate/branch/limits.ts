import type { Ledger } from '../object/ledger.ts';
import {
  type Escrow,
  escrowOf,
  giveBack,
  newEscrow,
  NO_SHARE,
  receiveGrant,
  type ShareOffer,
  unspent,
} from '../rules/limits.ts';
import type { Grant } from '../rules/messages.ts';
import { limitAt, type UsageAt } from '../rules/usage.ts';
import type { BranchCopy } from './branch-copy.ts';

/**
 * What home has given a branch of its account's limits: calls, by period, and a share of the rate limits. What the branch has
 * spent of the calls is its ledger's count of the period. The share and the others' usage are in memory only.
 */
export const openBranchLimits = (
  sql: SqlStorage,
  copy: Pick<BranchCopy, 'account'>,
  ledger: Pick<Ledger, 'periodUsage'>,
) => {
  type Stored = Omit<Escrow, 'spent'>;
  let stored: Stored[] = sql
    .exec<{ period_start_ms: number; granted: number; returned: number }>('SELECT * FROM escrows')
    .toArray()
    .map(({ period_start_ms: periodStartMs, granted, returned }) => ({ periodStartMs, granted, returned }));
  let share = NO_SHARE;
  /** What home and other branches have counted, by period. */
  let others = new Map<number, number>();

  const escrows = (): Escrow[] =>
    stored.map((escrow) => ({ ...escrow, spent: ledger.periodUsage(escrow.periodStartMs) }));

  const save = ({ periodStartMs, granted, returned }: Escrow) => {
    const known = escrowOf(escrows(), periodStartMs);
    if (known?.granted === granted && known.returned === returned) return;
    const rest = stored.filter((escrow) => escrow.periodStartMs !== periodStartMs);
    stored = [...rest, { periodStartMs, granted, returned }];
    sql.exec(
      'INSERT OR REPLACE INTO escrows (period_start_ms, granted, returned) VALUES (?, ?, ?)',
      periodStartMs,
      granted,
      returned,
    );
  };

  const at: UsageAt = (nowMs) => {
    const account = copy.account();
    if (!account) throw new Error('The branch has no copy of its account.');
    const { apiLimit, period } = limitAt(account, nowMs);
    const { startMs } = period;
    const apiUsage = (others.get(startMs) ?? 0) + ledger.periodUsage(startMs);
    // A plan that has ended by this clock may leave less than what was granted.
    const left = Math.min(unspent(escrowOf(escrows(), startMs), startMs), apiLimit - apiUsage);
    return { apiLimit, period, apiUsage, remaining: left };
  };

  return {
    escrows,
    at,

    /** Home notes thresholds, because it knows all calls. */
    note: () => {},

    /** The calls that the branch may still count in the present period. */
    unspent: (nowMs: number) => (copy.account() ? at(nowMs).remaining : 0),

    share: () => share,
    shareOfRate: () => share.perSecond,
    setShare: (changed: ShareOffer) => {
      share = changed;
    },

    noteOthers: (periodStartMs: number, calls: number) =>
      others.set(periodStartMs, Math.max(others.get(periodStartMs) ?? 0, calls)),

    /** Merges what home has granted, as part of the current transaction. */
    receive: (grants: Grant[]) => {
      for (const { periodStartMs, granted } of grants)
        save(receiveGrant(escrowOf(escrows(), periodStartMs) ?? newEscrow(periodStartMs), granted));
    },

    /** Gives back what isn't spent, as part of the current transaction. */
    giveBack: () => {
      for (const escrow of escrows()) save(giveBack(escrow));
    },

    /** Forgets everything but the share, as part of the current transaction. */
    forget: () => {
      stored = [];
      others = new Map();
      sql.exec('DELETE FROM escrows');
    },
  };
};

export type BranchLimits = ReturnType<typeof openBranchLimits>;
