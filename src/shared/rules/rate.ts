// The generic cell rate algorithm (GCRA): a key's rate is one number, the time at which it has fully recovered.

import type { Plan } from './plans.ts';

export const RATE_WINDOW_MS = 2_000;

/** The values of the RateLimit headers. */
export interface RateState {
  /** Calls that a fully recovered key may make at once. */
  quota: number;
  windowSeconds: number;
  remaining: number;
  /** Time until the key has fully recovered. */
  resetSeconds: number;
  /** Set if this isn't the rate limit of one key: that of all keys, of all sessions, or of calls for licenses that don't exist. */
  policy?: 'account' | 'session' | 'unknown-licenses';
}

/** The caller stores `recoveredAtMs` for the key. A refused call doesn't change it. */
export type RateDecision =
  | { allowed: true; recoveredAtMs: number; state: RateState }
  | { allowed: false; recoveredAtMs: number; state: RateState; retryAfterSeconds: number; waitMs: number };

/** Ignores a debt longer than the window: it means that the clock was set back, which must not lock a key out. */
const debtMs = (recoveredAtMs: number, nowMs: number, windowMs: number) => {
  const owedMs = recoveredAtMs - nowMs;
  return owedMs < 0 || owedMs > windowMs ? 0 : owedMs;
};

/** Returns the current state without spending anything. `part` is the part of the limit that applies here. */
export const currentRate = (
  recoveredAtMs: number,
  nowMs: number,
  callsPerSecond: number,
  windowMs = RATE_WINDOW_MS,
  part = 1,
): RateState => {
  const owedMs = debtMs(recoveredAtMs, nowMs, windowMs);
  return {
    quota: (callsPerSecond * windowMs) / 1_000,
    windowSeconds: windowMs / 1_000,
    remaining: Math.max(0, Math.floor(((windowMs - owedMs) * callsPerSecond * part) / 1_000)),
    resetSeconds: Math.ceil(owedMs / 1_000),
  };
};

export const decideRate = (
  recoveredAtMs: number,
  nowMs: number,
  callsPerSecond: number,
  windowMs = RATE_WINDOW_MS,
  part = 1,
): RateDecision => {
  const costMs = 1_000 / (callsPerSecond * part);
  const owedMs = debtMs(recoveredAtMs, nowMs, windowMs);
  const excessMs = owedMs + costMs - windowMs;
  const allowed = excessMs <= 0;
  const nextMs = nowMs + owedMs + (allowed ? costMs : 0);
  const state = currentRate(nextMs, nowMs, callsPerSecond, windowMs, part);
  return allowed
    ? { allowed, recoveredAtMs: nextMs, state }
    : {
        allowed,
        recoveredAtMs: nextMs,
        state,
        retryAfterSeconds: Math.max(1, Math.ceil(excessMs / 1_000)),
        waitMs: excessMs,
      };
};

/** A longer debt means that the clock was set back, which must not lock a transfer out. */
const MAX_OWED_MS = 60_000;

/**
 * Spends a rate by the size of the work, in calls. It refuses nothing: the work waits for `waitMs`, until what it spends fits
 * into the window.
 */
export const spendSize = (
  recoveredAtMs: number,
  nowMs: number,
  calls: number,
  callsPerSecond: number,
): { recoveredAtMs: number; waitMs: number } => {
  const owedMs = Math.min(MAX_OWED_MS, Math.max(0, recoveredAtMs - nowMs)) + (calls * 1_000) / callsPerSecond;
  return { recoveredAtMs: nowMs + owedMs, waitMs: Math.max(0, owedMs - RATE_WINDOW_MS) };
};

/**
 * Returns when a key has recovered after the part of the limit that applies here was raised. The key may have used the added
 * part elsewhere until now, so it starts with nothing of it. `ratio` is the part before by the part from now on.
 */
export const raiseRate = (
  recoveredAtMs: number,
  nowMs: number,
  ratio: number,
  windowMs = RATE_WINDOW_MS,
): number => nowMs + windowMs - (windowMs - debtMs(recoveredAtMs, nowMs, windowMs)) * ratio;

const asAccountRate = (state: RateState): RateState => ({ ...state, policy: 'account' });

export interface SharedRateDecision {
  /** The decision by the tighter of the two. */
  decision: RateDecision;
  keyRecoveredAtMs: number;
  accountRecoveredAtMs: number;
}

/** Decides by the rates of a key and of its account. A call that one of them refuses spends neither. */
export const decideSharedRate = (
  keyRecoveredAtMs: number,
  accountRecoveredAtMs: number,
  nowMs: number,
  { callsPerSecond, accountCallsPerSecond }: Pick<Plan, 'callsPerSecond' | 'accountCallsPerSecond'>,
  part = 1,
): SharedRateDecision => {
  const byKey = decideRate(keyRecoveredAtMs, nowMs, callsPerSecond, RATE_WINDOW_MS, part);
  const byAccount = decideRate(accountRecoveredAtMs, nowMs, accountCallsPerSecond, RATE_WINDOW_MS, part);
  const allowed = byKey.allowed && byAccount.allowed;
  const isAccountTighter = allowed
    ? byAccount.state.remaining < byKey.state.remaining
    : !byAccount.allowed && (byKey.allowed || byAccount.waitMs > byKey.waitMs);
  return {
    decision: isAccountTighter ? { ...byAccount, state: asAccountRate(byAccount.state) } : byKey,
    keyRecoveredAtMs: allowed ? byKey.recoveredAtMs : keyRecoveredAtMs,
    accountRecoveredAtMs: allowed ? byAccount.recoveredAtMs : accountRecoveredAtMs,
  };
};
