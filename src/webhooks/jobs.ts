import type { WebhookEvent } from '../shared/events.ts';
import type { Delivery, Endpoint } from './outbox-tables.ts';

// What passes between the outbox, the queue and its consumer.

/** Says that an endpoint has something due; what that is, the claim decides. */
export interface Hint {
  account_id: string;
  endpoint_id: string;
}

/** What a consumer needs to try a delivery. */
export interface Job {
  deliveryId: string;
  lease: string;
  eventId: string;
  payload: string;
  url: string;
  serviceHost: string;
  /** Sealed for the endpoint; all of them sign. */
  sealedSecrets: string[];
}

export const toJob = (
  delivery: Delivery,
  lease: string,
  endpoint: Endpoint,
  event: WebhookEvent,
  nowMs: number,
): Job => {
  const oldSecret = nowMs < (endpoint.oldSecretUntilMs ?? 0) ? endpoint.oldSealedSecret : null;
  return {
    deliveryId: delivery.id,
    lease,
    eventId: event.id,
    payload: event.payload,
    url: endpoint.url,
    serviceHost: endpoint.serviceHost,
    sealedSecrets: oldSecret === null ? [endpoint.sealedSecret] : [endpoint.sealedSecret, oldSecret],
  };
};
