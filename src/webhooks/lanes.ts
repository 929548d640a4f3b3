import { randomBase62 } from '../shared/crypto/random.ts';
import type { Deliveries } from './delivery-store.ts';
import type { Events } from './event-store.ts';
import { type DeliveryJob, toJob } from './jobs.ts';
import type { Endpoint, Lanes, StoredDelivery } from './outbox-tables.ts';
import type { Pending } from './pending-store.ts';

/** Twice the attempt timeout. The lease of a consumer that died occupies its lane until it expires. */
export const LEASE_MS = 30_000;
/** Workers allow six simultaneous outgoing connections. */
export const MAX_LANES = 6;

/** Returns how many attempts may be under way after one more has ended. Like TCP, a failure halves their number. */
export const nextWidth = (width: number, ok: boolean): number =>
  ok ? Math.min(width + 1, MAX_LANES) : Math.ceil(width / 2);

export const countFreeLanes = (
  { heldUntilMs }: Endpoint,
  { width, leases }: Lanes,
  nowMs: number,
): number => {
  if (nowMs < (heldUntilMs ?? 0)) return 0;
  return Math.max(0, width - leases.filter(({ untilMs }) => untilMs > nowMs).length);
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
