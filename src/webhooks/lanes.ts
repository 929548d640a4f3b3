import { randomBase62 } from '../shared/crypto/random.ts';
import type { Deliveries } from './delivery-store.ts';
import type { Events } from './event-store.ts';
import { type DeliveryJob, toJob } from './jobs.ts';
import type { Endpoint, Lanes, StoredDelivery } from './outbox-tables.ts';
import type { Pending } from './pending-store.ts';

/** Twice the attempt timeout. The lease of a consumer that died occupies its lane until it expires. */
export const LEASE_MS = 30_000;
/** Workers allow six simultaneous outgoing connections. */
const MAX_LANES = 6;
/** An endpoint that has only failed for longer than this gets a single lane. */
const SINGLE_LANE_AFTER_MS = 60_000;

export const countFreeLanes = ({ failingSinceMs }: Endpoint, { leases }: Lanes, nowMs: number): number => {
  const failingForMs = nowMs - (failingSinceMs ?? nowMs);
  const lanes = failingForMs > SINGLE_LANE_AFTER_MS ? 1 : MAX_LANES;
  return Math.max(0, lanes - leases.filter(({ untilMs }) => untilMs > nowMs).length);
};

/** Limits the concurrent attempts per endpoint. Each attempt holds a lease on its delivery. */
export const openLanes = (deliveries: Deliveries, pending: Pending, events: Events) => {
  const lease = (delivery: StoredDelivery, endpoint: Endpoint, lanes: Lanes, nowMs: number): DeliveryJob => {
    const leaseId = randomBase62(16);
    const others = lanes.leases.filter(({ deliveryId }) => deliveryId !== delivery.id);
    lanes.leases = [...others, { deliveryId: delivery.id, lease: leaseId, untilMs: nowMs + LEASE_MS }];
    return toJob(delivery, leaseId, endpoint, events.get(delivery.blockId, delivery.eventId), nowMs);
  };

  return {
    /** Leases deliveries that are due, up to the number of free lanes. A delivery whose lease has expired is due. */
    take: (endpoint: Endpoint, lanes: Lanes, nowMs: number, limit: number = MAX_LANES): DeliveryJob[] => {
      const free = Math.min(limit, countFreeLanes(endpoint, lanes, nowMs));
      const expired = lanes.leases
        .filter(({ untilMs }) => untilMs <= nowMs)
        .slice(0, free)
        .flatMap(({ deliveryId }) => deliveries.get(endpoint.id, deliveryId, lanes) ?? []);
      const due = pending.take(endpoint.id, lanes, nowMs, free - expired.length);
      return [...expired, ...due].map((delivery) => lease(delivery, endpoint, lanes, nowMs));
    },
  };
};
