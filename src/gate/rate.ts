// The generic cell rate algorithm: a key's pace in one number, the instant at which it has fully recovered.

export const RATE_WINDOW_MS = 2_000;

/** What the RateLimit fields tell the caller. */
export interface RateState {
  /** Calls that a rested key may make at once. */
  quota: number;
  windowSeconds: number;
  remaining: number;
  /** Until the key is fully rested. */
  resetSeconds: number;
}

export interface RateDecision {
  allowed: boolean;
  /** What to remember for the key: unchanged if the call was refused. */
  recoveredAtMs: number;
  retryAfterSeconds: number;
  state: RateState;
}

/** Nobody owes more than the window: more than that means a clock set back, which must not lock a key out. */
const owed = (recoveredAtMs: number, nowMs: number) => {
  const owedMs = recoveredAtMs - nowMs;
  return owedMs < 0 || owedMs > RATE_WINDOW_MS ? 0 : owedMs;
};

/** The pace as it stands, with nothing spent. */
export const currentRate = (recoveredAtMs: number, nowMs: number, callsPerSecond: number): RateState => {
  const owedMs = owed(recoveredAtMs, nowMs);
  return {
    quota: (callsPerSecond * RATE_WINDOW_MS) / 1_000,
    windowSeconds: RATE_WINDOW_MS / 1_000,
    remaining: Math.max(0, Math.floor(((RATE_WINDOW_MS - owedMs) * callsPerSecond) / 1_000)),
    resetSeconds: Math.ceil(owedMs / 1_000),
  };
};

export const decideRate = (recoveredAtMs: number, nowMs: number, callsPerSecond: number): RateDecision => {
  const costMs = 1_000 / callsPerSecond;
  const owedMs = owed(recoveredAtMs, nowMs);
  const tooMuchMs = owedMs + costMs - RATE_WINDOW_MS;
  const allowed = tooMuchMs <= 0;
  const nextMs = nowMs + owedMs + (allowed ? costMs : 0);
  return {
    allowed,
    recoveredAtMs: nextMs,
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil(tooMuchMs / 1_000)),
    state: currentRate(nextMs, nowMs, callsPerSecond),
  };
};
