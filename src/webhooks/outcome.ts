import type { DeliveryJob } from './jobs.ts';
import type { Attempt, Delivery, DisabledReason, Endpoint, Health } from './outbox-tables.ts';
import { hasFailedTooLong, holdUntilMs, nextAttemptMs } from './schedule.ts';

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
  const { failingSinceMs, heldUntilMs } = endpoint;
  // A response from an earlier URL says nothing about the current URL, so it leaves the endpoint as it is.
  const isEarlierUrl = urlRevision !== endpoint.urlRevision;
  if (outcome.ok) {
    // A success counts even if the lease has expired and another consumer holds a new one.
    return {
      delivery: { ...delivery, status: 'delivered', lease: null, error: null },
      health: { failingSinceMs: isEarlierUrl ? failingSinceMs : null, heldUntilMs },
      disable: null,
    };
  }
  if (isEarlierUrl) {
    const isLeased = delivery.lease === lease;
    return {
      delivery: isLeased ? { ...delivery, failures: 0, lease: null, dueAtMs: nowMs } : null,
      health: { failingSinceMs, heldUntilMs },
      disable: null,
    };
  }
  const health: Health = {
    failingSinceMs: failingSinceMs ?? outcome.atMs,
    heldUntilMs: holdUntilMs(heldUntilMs, nowMs, outcome.retryAfterMs),
  };
  const isFailing = hasFailedTooLong(health.failingSinceMs, nowMs);
  const disable = outcome.statusCode === GONE ? 'gone' : isFailing ? 'failing' : null;
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
