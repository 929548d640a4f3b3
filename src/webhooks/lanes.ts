import { randomBase62 } from '../shared/random.ts';
import type { Deliveries } from './delivery-store.ts';
import { type Job, toJob } from './jobs.ts';
import type { Delivery, Endpoint } from './outbox-tables.ts';

/** Twice the attempt timeout. The lease of a consumer that died occupies its lane until it expires. */
const LEASE_MS = 30_000;
/** Workers allow six simultaneous outgoing connections. */
const MAX_LANES = 6;
/** An endpoint that has only failed for longer than this gets a single lane. */
const SINGLE_LANE_AFTER_MS = 60_000;

/** Limits the concurrent attempts per endpoint. Each attempt holds a lease on its delivery. */
export const openLanes = (deliveries: Deliveries) => {
  const countFree = (endpoint: Endpoint, nowMs: number): number => {
    const failingForMs = nowMs - (endpoint.failingSinceMs ?? nowMs);
    const lanes = failingForMs > SINGLE_LANE_AFTER_MS ? 1 : MAX_LANES;
    return Math.max(0, lanes - deliveries.countInFlight(endpoint.id, nowMs));
  };

  const lease = (delivery: Delivery, endpoint: Endpoint, nowMs: number): Job => {
    const leaseId = randomBase62(16);
    deliveries.update({ ...delivery, lease: leaseId, dueAtMs: nowMs + LEASE_MS });
    return toJob(delivery, leaseId, endpoint, deliveries.getEvent(delivery.eventId), nowMs);
  };

  return {
    countFree,

    /** Leases deliveries that are due, up to the number of free lanes. */
    take: (endpoint: Endpoint, nowMs: number, limit: number = MAX_LANES): Job[] =>
      deliveries
        .listDue(endpoint.id, nowMs, Math.min(limit, countFree(endpoint, nowMs)))
        .map((delivery) => lease(delivery, endpoint, nowMs)),
  };
};
