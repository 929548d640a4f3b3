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

/** Ids sort by age, so that no index has to. A row of an index costs as much as one of a table: an event has four. */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS endpoints (id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS events (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, payload TEXT NOT NULL, created_at_ms INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS deliveries (
    endpoint_id TEXT NOT NULL, id TEXT NOT NULL, event_id TEXT NOT NULL, status TEXT NOT NULL,
    failures INTEGER NOT NULL, due_at_ms INTEGER NOT NULL, lease TEXT, created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, id)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (endpoint_id, due_at_ms) WHERE status = 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_in_flight ON deliveries (endpoint_id, due_at_ms)
    WHERE lease IS NOT NULL AND status = 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_by_event ON deliveries (event_id);
  CREATE TABLE IF NOT EXISTS attempts (
    delivery_id TEXT NOT NULL, at_ms INTEGER NOT NULL, status_code INTEGER, error TEXT,
    duration_ms INTEGER NOT NULL, response TEXT, PRIMARY KEY (delivery_id, at_ms)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS hours (
    hour INTEGER PRIMARY KEY, delivered INTEGER NOT NULL, failed INTEGER NOT NULL
  );
`;
