import type { EventName } from '../shared/rules/events.ts';
import type { WebhookEvent } from '../shared/events.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type DisabledReason = 'by_you' | 'gone' | 'failing';

export interface Endpoint {
  id: string;
  url: string;
  description: string | null;
  /** Null: all, also those that are yet to come. */
  events: EventName[] | null;
  sealedSecret: string;
  /** The one before, which signs as well until then. */
  oldSealedSecret: string | null;
  oldSecretUntilMs: number | null;
  disabledReason: DisabledReason | null;
  /** The first of an unbroken row of failures. */
  failingSinceMs: number | null;
  /** The service's own host as the account knows it, where a webhook must not lead. */
  serviceHost: string;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface Delivery {
  id: string;
  endpointId: string;
  eventId: string;
  status: DeliveryStatus;
  /** Failed attempts since it was last asked for; the schedule goes by them. */
  failures: number;
  /** When it is to be tried, or, while somebody tries it, when they are given up. */
  dueAtMs: number;
  lease: string | null;
  createdAtMs: number;
}

export interface Attempt {
  atMs: number;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** At most 2 KiB of what the receiver said. */
  response: string | null;
}

/** What was sent and what became of it. */
export interface DeliveryRecord extends Delivery {
  event: WebhookEvent;
  attempts: Attempt[];
}

export interface Summary {
  endpoints: number;
  delivered24h: number;
  failed24h: number;
  recentEvents: WebhookEvent[];
  firstEndpointAtMs: number | null;
}
