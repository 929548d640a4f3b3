import type { EventName } from '../shared/rules/events.ts';
import type { WebhookEvent } from '../shared/text/events.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type DisabledReason = 'by_you' | 'gone' | 'failing';

interface EarlierSecret {
  sealedSecret: string;
  untilMs: number;
}

export interface Endpoint {
  id: string;
  url: string;
  /** Increases with each change of the URL, so that an attempt at an earlier URL can be told apart. */
  urlRevision: number;
  description: string | null;
  /** Null subscribes to all events, including events that are added later. */
  events: EventName[] | null;
  sealedSecret: string;
  /** Secrets that rotations replaced, oldest first. Each of them also signs until its `untilMs`. */
  earlierSecrets: EarlierSecret[];
  disabledReason: DisabledReason | null;
  /** Null if it isn't disabled, or was disabled by an early version. */
  disabledAtMs: number | null;
  /** When the first failure since the last success happened. */
  failingSinceMs: number | null;
  /** A Retry-After or a 410 lets no attempt begin before. */
  heldUntilMs: number | null;
  /** When it answered 410, if no later attempt has answered anything else. */
  goneAtMs: number | null;
  /** The service's own hostname, which a webhook must not point to. */
  serviceHost: string;
  createdAtMs: number;
  updatedAtMs: number;
}

/** What an endpoint's answers say about it. */
export type Health = Pick<Endpoint, 'failingSinceMs' | 'heldUntilMs' | 'goneAtMs'>;

export interface Delivery {
  id: string;
  endpointId: string;
  eventId: string;
  status: DeliveryStatus;
  /** Failed attempts since the delivery was enqueued or resent. They determine the next delay. */
  failures: number;
  /** When the next attempt is due or, during an attempt, when its lease expires. */
  dueAtMs: number;
  lease: string | null;
  /** Why the delivery failed permanently, unless its last attempt says so. */
  error: string | null;
  createdAtMs: number;
}

export interface Attempt {
  atMs: number;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** The first 2 KiB of the response body. */
  response: string | null;
}

export interface StoredDelivery extends Delivery {
  /** The block that holds the delivery's event. */
  blockId: string;
  /** Oldest first. */
  attempts: Attempt[];
}

export interface DeliveryRecord extends StoredDelivery {
  event: WebhookEvent;
}

/** An attempt in progress. */
interface Lease {
  deliveryId: string;
  /** Null if a restart has lost it. */
  lease: string | null;
  untilMs: number;
}

/** The part of an endpoint that every claim and settle changes, in one row, which may be behind: see `lane-store.ts`. */
export interface Lanes {
  /** Deliveries with a greater id wait for their first attempt. */
  takenThrough: string;
  leases: Lease[];
  /** How many attempts may be under way at a time. */
  width: number;
  /** The hour since the epoch that the two counts of attempts belong to. */
  hour: number;
  delivered: number;
  failed: number;
}

export interface Summary {
  endpoints: number;
  delivered24h: number;
  failed24h: number;
  recentEvents: WebhookEvent[];
  firstEndpointAtMs: number | null;
}
