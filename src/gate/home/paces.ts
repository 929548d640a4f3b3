import type { Journal } from '../../shared/objects/journal.ts';
import { ownValue } from '../../shared/objects/own-values.ts';
import { SEARCH_PACE, SESSION_PACE } from '../../shared/rules/paces.ts';
import { limitsOf, PLANS } from '../../shared/rules/plans.ts';
import { decideRate, spendSize } from '../../shared/rules/rate.ts';
import type { Admission, MovedTo, TransferTurn } from '../rules/calls.ts';
import type { Copy } from './copy.ts';

// The paces of an account that depend on none of its API keys.

/** The rate limit that all sessions of the account share. It depends neither on the plan nor on the API keys' calls. */
export const openSessionRate = (movedTo: MovedTo) => {
  const { callsPerSecond, windowMs } = SESSION_PACE;
  let recoveredAtMs = 0;

  return (nowMs: number): Admission & MovedTo => {
    const decision = decideRate(recoveredAtMs, nowMs, callsPerSecond, windowMs);
    recoveredAtMs = decision.recoveredAtMs;
    const rate = { ...decision.state, policy: 'session' as const };
    if (decision.allowed) return { refused: null, rate, ...movedTo };
    const { retryAfterSeconds } = decision;
    // The next call would be allowed within 20 ms, which is over before an isolate has received the refusal. A caller
    // that waits for the whole second loses nothing, because the calls that it may make meanwhile fit into the burst.
    const holdsMs = retryAfterSeconds * 1_000;
    return { refused: 'rate_limit_exceeded', rate, retryAfterSeconds, holdsMs };
  };
};

/** The pace at which the account's lists compare licenses. */
export const openSearches = () => {
  const { licensesPerSecond, windowMs } = SEARCH_PACE;
  let recoveredAtMs = 0;

  return {
    /** Returns null if so many licenses may be compared now, and otherwise in how many seconds. */
    admit: (licenses: number, nowMs: number): number | null => {
      const decision = decideRate(recoveredAtMs, nowMs, licensesPerSecond / licenses, windowMs);
      recoveredAtMs = decision.recoveredAtMs;
      return decision.allowed ? null : decision.retryAfterSeconds;
    },
  };
};

const TRANSFER = ownValue('transfer');
/** A transfer that takes no turn for so long has died with its Worker. */
const TURN_MS = 15_000;
const RETRY_SECONDS = 5;

/**
 * Lets one import or export of the account run at a time, and decides how fast. Whose turn it is is stored, so that a restart
 * lets no second one in. A transfer that was slow may take its turn back, unless another has it.
 */
export const openTransfers = (
  kv: SyncKvStorage,
  journal: Pick<Journal, 'write'>,
  copy: Pick<Copy, 'account'>,
  ensureAccount: () => Promise<void>,
) => {
  let holder = kv.get<string>(TRANSFER) ?? null;
  let untilMs = Date.now() + TURN_MS;
  let recoveredAtMs = 0;

  const setHolder = (id: string | null) => {
    if (id === holder) return;
    journal.write(() => (id === null ? kv.delete(TRANSFER) : kv.put(TRANSFER, id)));
    holder = id;
  };

  /** A turn that ends later than one can means that the clock was set back. */
  const isLive = (nowMs: number) => nowMs < untilMs && untilMs <= nowMs + TURN_MS;

  return {
    /** `calls` is what the turn costs. The transfer waits for `waitMs` before the turn. */
    takeTurn: async (id: string, calls: number): Promise<TransferTurn> => {
      await ensureAccount();
      const nowMs = Date.now();
      if (holder !== null && holder !== id && isLive(nowMs))
        return { refused: 'rate_limit_exceeded', retryAfterSeconds: RETRY_SECONDS };
      setHolder(id);
      const account = copy.account();
      const { callsPerSecond } = account ? limitsOf(account, nowMs) : PLANS.free;
      const spent = spendSize(recoveredAtMs, nowMs, calls, callsPerSecond);
      ({ recoveredAtMs } = spent);
      untilMs = nowMs + TURN_MS;
      return { refused: null, waitMs: spent.waitMs };
    },

    end: (id: string): void => {
      if (holder === id) setHolder(null);
    },
  };
};
