import {
  DISABLE_AFTER_MS,
  GONE_AGAIN_MS,
  MAX_RETRY_AFTER_MS,
  RETRY_DELAYS_MS,
  RETRY_JITTER,
} from '../shared/rules/webhooks.ts';

// When to retry a delivery and when to disable an endpoint. Pure: the time and the random number are inputs.

/** Returns when to try again after `failures` failed attempts, or null after the last. `random` is between 0 and 1. */
export const nextAttemptMs = (failures: number, nowMs: number, random: number): number | null => {
  const delayMs = RETRY_DELAYS_MS[failures - 1];
  if (delayMs === undefined) return null;
  return Math.round(nowMs + delayMs * (1 - RETRY_JITTER + 2 * RETRY_JITTER * random));
};

/**
 * Returns until when an endpoint gets no requests. A receiver that sends a Retry-After speaks for all deliveries, and an
 * answer to an earlier request doesn't shorten the time.
 */
export const holdUntilMs = (
  heldUntilMs: number | null,
  nowMs: number,
  retryAfterMs: number | null,
): number | null =>
  retryAfterMs === null
    ? heldUntilMs
    : Math.max(heldUntilMs ?? 0, nowMs + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));

/** Whether a 410 confirms an earlier one. An attempt that was under way then doesn't. */
export const isGoneAgain = (goneAtMs: number | null, atMs: number): boolean =>
  goneAtMs !== null && atMs >= goneAtMs + GONE_AGAIN_MS;

/** Reads a Retry-After header, in seconds or as a date. Invalid values are ignored. */
export const readRetryAfter = (header: string | null, nowMs: number): number | null => {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
};

/** Whether an endpoint has failed for so long, without a success in between, that it must be disabled. */
export const hasFailedTooLong = (failingSinceMs: number | null, nowMs: number): boolean =>
  failingSinceMs !== null && nowMs - failingSinceMs >= DISABLE_AFTER_MS;
