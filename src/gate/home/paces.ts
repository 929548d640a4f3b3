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

/** Whose turn it is, and until when. */
interface Turn {
  id: string;
  untilMs: number;
}

/** Of a turn, version 1.0 stored only the id. It counts as over: a transfer that still runs takes its turn back. */
const readTurn = (stored: Turn | string | undefined): Turn | null =>
  typeof stored === 'string' ? { id: stored, untilMs: 0 } : (stored ?? null);

/**
 * Lets one import or export of the account run at a time, and decides how fast. The turn is stored with its end, so that a
 * restart neither lets a second one in nor makes a turn longer. A slow transfer may take its turn back, unless another has it.
 */
export const openTransfers = (
  kv: SyncKvStorage,
  journal: Pick<Journal, 'write'>,
  copy: Pick<Copy, 'account'>,
  ensureAccount: () => Promise<void>,
) => {
  let turn = readTurn(kv.get<Turn | string>(TRANSFER));
  let recoveredAtMs = 0;

  const setTurn = (next: Turn | null) => {
    journal.write(() => (next === null ? kv.delete(TRANSFER) : kv.put(TRANSFER, next)));
    turn = next;
  };

  /** A turn that ends later than one can means that the clock was set back. */
  const isLive = ({ untilMs }: Turn, nowMs: number) => nowMs < untilMs && untilMs <= nowMs + TURN_MS;

  return {
    /** `calls` is what the turn costs. The transfer waits for `waitMs` before the turn. */
    takeTurn: async (id: string, calls: number): Promise<TransferTurn> => {
      await ensureAccount();
      const nowMs = Date.now();
      if (turn !== null && turn.id !== id && isLive(turn, nowMs))
        return { refused: 'rate_limit_exceeded', retryAfterSeconds: RETRY_SECONDS };
      setTurn({ id, untilMs: nowMs + TURN_MS });
      const account = copy.account();
      const { callsPerSecond } = account ? limitsOf(account, nowMs) : PLANS.free;
      const spent = spendSize(recoveredAtMs, nowMs, calls, callsPerSecond);
      ({ recoveredAtMs } = spent);
      return { refused: null, waitMs: spent.waitMs };
    },

    end: (id: string): void => {
      if (turn?.id === id) setTurn(null);
    },
  };
};
