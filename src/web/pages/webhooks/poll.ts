import type { Delivery } from '../../data/queries.ts';

const FAST_POLL_MS = 2_500;
const SLOW_POLL_MS = 5_000;

const msToNextAttempt = ({ status, next_attempt_at: next }: Delivery, nowMs: number): number => {
  if (status !== 'pending') return SLOW_POLL_MS;
  return next === null ? 0 : Date.parse(next) - nowMs;
};

/** Returns the polling interval, which is shorter while an attempt is in progress or due. */
export const pollMs = (deliveries: Delivery[], nowMs: number): number =>
  Math.max(
    FAST_POLL_MS,
    Math.min(SLOW_POLL_MS, ...deliveries.map((delivery) => msToNextAttempt(delivery, nowMs))),
  );
