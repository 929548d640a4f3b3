// What a release has stored, and what it answered afterwards. fill.ts writes it with the code of the release, and
// ../release.test.ts reads it. The files of this folder run with the code of either, so they use only what both have.
import { runDurableObjectAlarm } from 'cloudflare:test';
import { vi } from 'vitest';
import { HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { type Json, call } from '../../support/client.ts';
import { gate } from '../../support/gate.ts';
import { consume, runOutboxAlarm } from '../../support/outbox.ts';

export const DATABASES = ['DB', 'DB2'] as const;

export interface StoredObject {
  binding: 'GATE' | 'OUTBOX';
  accountId: string;
  /** Creates the tables and inserts their rows. */
  statements: string[];
  values: [name: string, value: unknown][];
  alarmMs: number | null;
}

export interface Recorded {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  status: number;
  answer: Json;
}

export interface Seller {
  accountId: string;
  email: string;
  password: string;
  session: string;
  endpointIds: string[];
}

export interface Release {
  /** How many migrations the release has. */
  migrations: number;
  /** The clock stands still at this time. It is in the future, so that no alarm runs by itself. */
  nowMs: number;
  databases: Record<(typeof DATABASES)[number], string[]>;
  objects: StoredObject[];
  sellers: Seller[];
  /** Tokens of licenses. */
  tokens: string[];
  /** A secret that the last endpoint had before a rotation, less than a day ago. */
  earlierSecret: string;
  /** Calls to the release after it had stored this, in this order. */
  calls: Recorded[];
  /** Ids of the stored events that it sent afterwards, by URL. */
  sent: Record<string, string[]>;
  /** The deliveries of stored events in the end, by endpoint. */
  deliveries: Record<string, Json[]>;
}

/** Fields that differ in each run, or that tell of the time of day. */
const VOLATILE = new Set(['token', 'session', 'request_id', 'recent_events', 'delivered_24h']);

const withoutVolatile = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutVolatile);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !VOLATILE.has(name));
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutVolatile(field)]));
};

/** Makes a call and returns it with its answer. */
export const record = async ({ method, path, headers, body }: Omit<Recorded, 'status' | 'answer'>) => {
  const answer = await call(method, path, { body, headers });
  const sent = { method, path, headers, ...(body !== undefined && { body }) };
  return { ...sent, status: answer.status, answer: withoutVolatile(answer.body) } satisfies Recorded;
};

/** Runs both alarms and the queue's consumer several times within five hours, in which every retry is due. */
export const deliverAll = async ({ accountId, endpointIds }: Seller) => {
  for (let hour = 0; hour < 5; hour++) {
    await runDurableObjectAlarm(gate(accountId));
    await runOutboxAlarm(accountId);
    for (const id of endpointIds) await consume({ account_id: accountId, endpoint_id: id });
    vi.advanceTimersByTime(HOUR_MS);
  }
};

/** Returns an endpoint's deliveries of events that have been stored before. */
export const readDeliveries = async (
  { session }: Seller,
  endpointId: string,
  isStored: (id: string) => boolean,
) => {
  const { body } = await call('GET', `/api/webhooks/${endpointId}/deliveries?limit=100`, {
    headers: { authorization: `Bearer ${session}` },
  });
  const rows = body.data.map(({ event_id, event, status, attempts }: Json) => ({
    event_id,
    event,
    status,
    attempts: attempts.map(({ status_code }: Json) => status_code),
  }));
  return rows.filter(({ event_id: id }: Json) => isStored(id)) as Json[];
};
