import { GONE_AGAIN_MS } from '../shared/rules/webhooks.ts';
import type { DeliveryJob } from './jobs.ts';
import type { Attempt, Delivery, DisabledReason, Endpoint, Health } from './outbox-tables.ts';
import { hasFailedTooLong, holdUntilMs, isGoneAgain, nextAttemptMs } from './schedule.ts';

export interface Outcome extends Attempt {
  ok: boolean;
  retryAfterMs: number | null;
}

const GONE = 410;

/** Returns how an attempt changes its delivery and endpoint. Pure: the time and the random number are inputs. */
export const applyOutcome = <D extends Delivery>(
  delivery: D,
  { lease, urlRevision }: Pick<DeliveryJob, 'lease' | 'urlRevision'>,
  endpoint: Endpoint,
  outcome: Outcome,
  { nowMs, random }: { nowMs: number; random: number },
): { delivery: D | null; health: Health; disable: DisabledReason | null } => {
  const { failingSinceMs, heldUntilMs, goneAtMs } = endpoint;
  // A response from an earlier URL says nothing about the current URL, so it leaves the endpoint as it is.
  const isEarlierUrl = urlRevision !== endpoint.urlRevision;
  if (outcome.ok) {
    // A success counts even if the lease has expired and another consumer holds a new one.
    return {
      delivery: { ...delivery, status: 'delivered', lease: null, error: null },
      health: isEarlierUrl
        ? { failingSinceMs, heldUntilMs, goneAtMs }
        : { failingSinceMs: null, heldUntilMs, goneAtMs: null },
      disable: null,
    };
  }
  if (isEarlierUrl) {
    const isLeased = delivery.lease === lease;
    return {
      delivery: isLeased ? { ...delivery, failures: 0, lease: null, dueAtMs: nowMs } : null,
      health: { failingSinceMs, heldUntilMs, goneAtMs },
      disable: null,
    };
  }
  const isGone = outcome.statusCode === GONE;
  const waitMs = isGone ? Math.max(GONE_AGAIN_MS, outcome.retryAfterMs ?? 0) : outcome.retryAfterMs;
  const health: Health = {
    failingSinceMs: failingSinceMs ?? outcome.atMs,
    heldUntilMs: holdUntilMs(heldUntilMs, nowMs, waitMs),
    goneAtMs: isGone ? (goneAtMs ?? outcome.atMs) : null,
  };
  const isFailing = hasFailedTooLong(health.failingSinceMs, nowMs);
  const disable = isGone && isGoneAgain(goneAtMs, outcome.atMs) ? 'gone' : isFailing ? 'failing' : null;
  // The lease expired and another consumer retries the delivery: its attempt decides.
  if (delivery.lease !== lease) {
    return { delivery: null, health: { ...health, failingSinceMs }, disable };
  }
  const failures = delivery.failures + 1;
  const dueAtMs = nextAttemptMs(failures, nowMs, random);
  return {
    delivery: {
      ...delivery,
      failures,
      lease: null,
      status: dueAtMs === null ? 'failed' : 'pending',
      dueAtMs: dueAtMs ?? delivery.dueAtMs,
    },
    health,
    disable,
  };
};
