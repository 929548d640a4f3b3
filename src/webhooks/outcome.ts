import type { Attempt, Delivery, DisabledReason, Endpoint } from './outbox-tables.ts';
import { isGivenUp, nextAttemptMs } from './schedule.ts';

/** An attempt and whether it was a success. */
export interface Outcome extends Attempt {
  ok: boolean;
  retryAfterMs: number | null;
}

const GONE = 410;

/** What an attempt makes of its delivery and its endpoint: pure, and told the time and the dice. */
export const settled = (
  delivery: Delivery,
  lease: string,
  endpoint: Endpoint,
  outcome: Outcome,
  { nowMs, dice }: { nowMs: number; dice: number },
): { delivery: Delivery | null; failingSinceMs: number | null; disable: DisabledReason | null } => {
  if (outcome.ok) {
    // Delivered is delivered, whoever holds the lease by now.
    return {
      delivery: { ...delivery, status: 'delivered', lease: null },
      failingSinceMs: null,
      disable: null,
    };
  }
  const failingSinceMs = endpoint.failingSinceMs ?? outcome.atMs;
  const disable = outcome.statusCode === GONE ? 'gone' : isGivenUp(failingSinceMs, nowMs) ? 'failing' : null;
  // Somebody else tries it already: their attempt decides.
  if (delivery.lease !== lease) {
    return { delivery: null, failingSinceMs: endpoint.failingSinceMs, disable };
  }
  const failures = delivery.failures + 1;
  const dueAtMs = nextAttemptMs(failures, nowMs, outcome.retryAfterMs, dice);
  return {
    delivery: {
      ...delivery,
      failures,
      lease: null,
      status: dueAtMs === null ? 'failed' : 'pending',
      dueAtMs: dueAtMs ?? delivery.dueAtMs,
    },
    failingSinceMs,
    disable,
  };
};
