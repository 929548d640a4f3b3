import type { Copy } from './copy.ts';
import { decideRate } from '../../shared/rules/rate.ts';
import type { MovedTo, Admission } from '../rules/replies.ts';

const CALLS_PER_SECOND = 50;
/** Bursts are five seconds' worth of calls: opening a page of the dashboard makes several calls at once. */
const WINDOW_MS = 5_000;

interface Parts {
  copy: Pick<Copy, 'account'>;
  /** Reads the account from D1 if the copy doesn't have it. Returns false if D1 can't be reached. */
  ensureKnown: () => Promise<boolean>;
  movedTo: MovedTo;
}

/** The rate limit that all sessions of the account share. It depends neither on the plan nor on the API keys' calls. */
const openSessionRate = (movedTo: MovedTo) => {
  let recoveredAtMs = 0;

  return (nowMs: number): Admission & MovedTo => {
    const decision = decideRate(recoveredAtMs, nowMs, CALLS_PER_SECOND, WINDOW_MS);
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

/** Decides whether a session may make another call. While its account is suspended, it may only read. */
export const openSessionAdmission = ({ copy, ensureKnown, movedTo }: Parts) => {
  const spendRate = openSessionRate(movedTo);

  return async (isChange: boolean): Promise<Admission & MovedTo> => {
    const admission = spendRate(Date.now());
    if (admission.refused !== null || !isChange) return admission;
    if (!(await ensureKnown())) return { refused: 'unavailable' };
    return copy.account()?.suspendedAt
      ? { refused: 'account_suspended', rate: admission.rate, ...movedTo }
      : admission;
  };
};
