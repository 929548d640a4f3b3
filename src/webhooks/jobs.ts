import type { WebhookEvent } from '../shared/text/events.ts';
import { signingSecrets } from './endpoint-store.ts';
import type { Delivery, Endpoint } from './outbox-tables.ts';

// Messages between the outbox, the queue and the queue consumer.

/** A queue message hinting that an endpoint has deliveries due. The consumer claims them from the outbox. */
export interface Hint {
  account_id: string;
  endpoint_id: string;
}

/** A leased delivery with everything that an attempt needs. */
export interface DeliveryJob {
  deliveryId: string;
  lease: string;
  eventId: string;
  payload: string;
  url: string;
  /** The revision of `url` in its endpoint. */
  urlRevision: number;
  serviceHost: string;
  /** The current secret and the earlier secrets that have not expired. Each of them signs. */
  sealedSecrets: string[];
}

/** What the outbox needs to settle a job. Jobs claimed before an update of the service have no `urlRevision`. */
export type SettledJob = Pick<DeliveryJob, 'deliveryId' | 'lease'> &
  Partial<Pick<DeliveryJob, 'urlRevision'>>;

export const toJob = (
  delivery: Delivery,
  lease: string,
  endpoint: Endpoint,
  event: WebhookEvent,
  nowMs: number,
): DeliveryJob => ({
  deliveryId: delivery.id,
  lease,
  eventId: event.id,
  payload: event.payload,
  url: endpoint.url,
  urlRevision: endpoint.urlRevision,
  serviceHost: endpoint.serviceHost,
  sealedSecrets: signingSecrets(endpoint, nowMs),
});
