import { randomBase62 } from '../shared/random.ts';
import type { Deliveries } from './delivery-store.ts';
import { type Job, toJob } from './jobs.ts';
import type { Delivery, Endpoint } from './outbox-tables.ts';

/** Twice what an attempt may take. Until then a dead consumer's lease keeps its lane from the others. */
const LEASE_MS = 30_000;
/** A consumer has six outgoing connections. */
const LANES = 6;
/** An endpoint that fails for longer than this is tried one delivery at a time. */
const ONE_LANE_AFTER_MS = 60_000;

/** How many of an endpoint's deliveries are tried at once; each is leased to who tries it. */
export const openLanes = (deliveries: Deliveries) => {
  const free = (endpoint: Endpoint, nowMs: number): number => {
    const failsForMs = nowMs - (endpoint.failingSinceMs ?? nowMs);
    const lanes = failsForMs > ONE_LANE_AFTER_MS ? 1 : LANES;
    return Math.max(0, lanes - deliveries.inFlight(endpoint.id, nowMs));
  };

  const lease = (delivery: Delivery, endpoint: Endpoint, nowMs: number): Job => {
    const mark = randomBase62(16);
    deliveries.update({ ...delivery, lease: mark, dueAtMs: nowMs + LEASE_MS });
    return toJob(delivery, mark, endpoint, deliveries.eventOf(delivery.eventId), nowMs);
  };

  return {
    free,

    /** What is due and has a lane, leased to the caller. */
    take: (endpoint: Endpoint, nowMs: number, mostOf: number = LANES): Job[] =>
      deliveries
        .due(endpoint.id, nowMs, Math.min(mostOf, free(endpoint, nowMs)))
        .map((delivery) => lease(delivery, endpoint, nowMs)),
  };
};
