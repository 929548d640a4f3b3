import type { Delivery } from '../../data/queries.ts';

const SOON_MS = 2_500;
const LATER_MS = 5_000;

const waitMs = ({ status, next_attempt_at: next }: Delivery, nowMs: number): number => {
  if (status !== 'pending') return LATER_MS;
  return next === null ? 0 : Date.parse(next) - nowMs;
};

/** In how long to ask again: soon while something is sent or about to be, at leisure otherwise. */
export const pollMs = (deliveries: Delivery[], nowMs: number): number =>
  Math.max(SOON_MS, Math.min(LATER_MS, ...deliveries.map((delivery) => waitMs(delivery, nowMs))));
