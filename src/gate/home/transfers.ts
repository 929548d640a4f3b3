import type { Journal } from '../../shared/objects/journal.ts';
import { effectivePlan, PLANS } from '../../shared/rules/plans.ts';
import { spendSize } from '../../shared/rules/rate.ts';
import type { TransferTurn } from '../rules/calls.ts';
import type { Copy } from './copy.ts';

const TRANSFER = 'transfer';
/** A transfer that takes no turn for so long has died with its Worker. */
const LEASE_MS = 15_000;
const RETRY_SECONDS = 5;

/**
 * Lets one import or export of the account run at a time, and decides how fast. What holds the lease is stored, so that a
 * restart lets no second one in. A transfer that was slow may take it back, unless another has it.
 */
export const openTransfers = (
  kv: SyncKvStorage,
  journal: Pick<Journal, 'write'>,
  copy: Pick<Copy, 'account'>,
  ensureAccount: () => Promise<void>,
) => {
  let holder = kv.get<string>(TRANSFER) ?? null;
  let untilMs = Date.now() + LEASE_MS;
  let recoveredAtMs = 0;

  const setHolder = (id: string | null) => {
    if (id === holder) return;
    journal.write(() => (id === null ? kv.delete(TRANSFER) : kv.put(TRANSFER, id)));
    holder = id;
  };

  /** A lease that ends later than one can means that the clock was set back. */
  const isLive = (nowMs: number) => nowMs < untilMs && untilMs <= nowMs + LEASE_MS;

  return {
    /** `calls` is what the turn costs. The transfer waits for `waitMs` before the turn. */
    takeTurn: async (id: string, calls: number): Promise<TransferTurn> => {
      await ensureAccount();
      const nowMs = Date.now();
      if (holder !== null && holder !== id && isLive(nowMs))
        return { refused: 'rate_limit_exceeded', retryAfterSeconds: RETRY_SECONDS };
      setHolder(id);
      const account = copy.account();
      const { callsPerSecond } = PLANS[account ? effectivePlan(account, nowMs) : 'free'];
      const spent = spendSize(recoveredAtMs, nowMs, calls, callsPerSecond);
      ({ recoveredAtMs } = spent);
      untilMs = nowMs + LEASE_MS;
      return { refused: null, waitMs: spent.waitMs };
    },

    end: (id: string): void => {
      if (holder === id) setHolder(null);
    },
  };
};
