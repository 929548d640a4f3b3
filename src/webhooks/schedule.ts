// When a delivery is tried again, and when an endpoint is given up: pure, and told the time and the dice.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The pause before each retry; after the last one the delivery has failed. */
const PAUSES_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

const JITTER = 0.2;

/** However long a receiver asks for, it is tried once a day. */
const MAX_RETRY_AFTER_MS = DAY_MS;

export const DISABLE_AFTER_MS = 5 * DAY_MS;

/**
 * The next attempt after `attempts` failed ones, or null when there is none. A Retry-After can put it off
 * and never brings it forward. `dice` is random, from 0 to 1.
 */
export const nextAttemptMs = (
  attempts: number,
  nowMs: number,
  retryAfterMs: number | null,
  dice: number,
): number | null => {
  const pauseMs = PAUSES_MS[attempts - 1];
  if (pauseMs === undefined) return null;
  const jittered = pauseMs * (1 - JITTER + 2 * JITTER * dice);
  return Math.round(nowMs + Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)));
};

/** A Retry-After is seconds or a date; nonsense is none. */
export const readRetryAfter = (header: string | null, nowMs: number): number | null => {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND_MS;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
};

/** Nothing but failures for five days. */
export const isGivenUp = (failingSinceMs: number | null, nowMs: number): boolean =>
  failingSinceMs !== null && nowMs - failingSinceMs >= DISABLE_AFTER_MS;
