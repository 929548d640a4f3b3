import type { Events } from './event-store.ts';
import type { Attempt, DeliveryRecord, DeliveryStatus, Lanes, StoredDelivery } from './outbox-tables.ts';

export type DeliveryRow = {
  id: string;
  endpoint_id: string;
  event_id: string;
  block_id: string;
  status: DeliveryStatus;
  failures: number;
  due_at_ms: number;
  error: string | null;
  created_at_ms: number;
  attempts: string;
};

/** The deliveries of a block are between its first and its last one in the primary key's order. */
const OF_EVENTS = `event_blocks JOIN deliveries
  ON endpoint_id IN (SELECT id FROM endpoints) AND deliveries.id BETWEEN first_delivery_id AND last_delivery_id
  WHERE last_id = ?1 AND block_id = ?1 AND event_id IN (SELECT value FROM json_each(?2))`;

export const toDelivery = (row: DeliveryRow, { leases }: Lanes): StoredDelivery => {
  const lease = leases.find(({ deliveryId }) => deliveryId === row.id);
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    blockId: row.block_id,
    status: row.status,
    failures: row.failures,
    dueAtMs: lease?.untilMs ?? row.due_at_ms,
    lease: lease?.lease ?? null,
    error: row.error,
    createdAtMs: row.created_at_ms,
    attempts: JSON.parse(row.attempts) as Attempt[],
  };
};

/** Stores deliveries, one row each, with their attempts. `pending-store.ts` knows which of them are due. */
export const openDeliveries = (sql: SqlStorage, events: Events) => {
  const find = (endpointId: string, id: string): DeliveryRow | undefined =>
    sql
      .exec<DeliveryRow>('SELECT * FROM deliveries WHERE endpoint_id = ? AND id = ?', endpointId, id)
      .toArray()[0];

  const toRecord = (row: DeliveryRow, lanes: Lanes): DeliveryRecord => {
    const delivery = toDelivery(row, lanes);
    return { ...delivery, event: events.get(delivery.blockId, delivery.eventId) };
  };

  return {
    /** Inserts deliveries to a block of events. Those that are pending are due now. */
    insert: (
      added: Pick<StoredDelivery, 'endpointId' | 'id' | 'eventId' | 'status' | 'error'>[],
      blockId: string,
      nowMs: number,
    ) => {
      if (added.length === 0) return;
      sql.exec(
        `INSERT INTO deliveries
           (endpoint_id, id, event_id, block_id, status, error, failures, due_at_ms, created_at_ms, attempts)
         SELECT value ->> 'endpointId', value ->> 'id', value ->> 'eventId', ?2, value ->> 'status', value ->> 'error',
           0, ?3, ?3, '[]'
         FROM json_each(?1)`,
        JSON.stringify(added),
        blockId,
        nowMs,
      );
    },

    get: (endpointId: string, id: string, lanes: Lanes): StoredDelivery | null => {
      const row = find(endpointId, id);
      return row ? toDelivery(row, lanes) : null;
    },

    getRecord: (endpointId: string, id: string, lanes: Lanes): DeliveryRecord | null => {
      const row = find(endpointId, id);
      return row ? toRecord(row, lanes) : null;
    },

    /** Returns a page of deliveries, newest first. */
    listPage: (endpointId: string, limit: number, beforeId: string | null, lanes: Lanes): DeliveryRecord[] =>
      sql
        .exec<DeliveryRow>(
          'SELECT * FROM deliveries WHERE endpoint_id = ? AND id < ? ORDER BY id DESC LIMIT ?',
          endpointId,
          beforeId ?? '~',
          limit,
        )
        .toArray()
        .map((row) => toRecord(row, lanes)),

    /** Returns the next failed deliveries, oldest first. */
    listFailed: (endpointId: string, afterId: string, limit: number) =>
      sql
        .exec<Pick<DeliveryRow, 'id' | 'event_id' | 'block_id'>>(
          `SELECT id, event_id, block_id FROM deliveries
           WHERE endpoint_id = ? AND id > ? AND status = 'failed' ORDER BY id LIMIT ?`,
          endpointId,
          afterId,
          limit,
        )
        .toArray(),

    save: (delivery: StoredDelivery) => {
      sql.exec(
        `UPDATE deliveries SET status = ?, failures = ?, due_at_ms = ?, error = ?, attempts = ?
         WHERE endpoint_id = ? AND id = ?`,
        delivery.status,
        delivery.failures,
        delivery.dueAtMs,
        delivery.error,
        JSON.stringify(delivery.attempts),
        delivery.endpointId,
        delivery.id,
      );
    },

    /** Returns the deliveries of some of a block's events. */
    listByEvents: (blockId: string, eventIds: string[]): DeliveryRow[] =>
      sql
        .exec<DeliveryRow>(`SELECT deliveries.* FROM ${OF_EVENTS}`, blockId, JSON.stringify(eventIds))
        .toArray(),

    delete: (endpointId: string, id: string) => {
      sql.exec('DELETE FROM deliveries WHERE endpoint_id = ? AND id = ?', endpointId, id);
    },

    /** Forgets what the endpoint has answered, which may repeat the event. */
    forgetResponses: ({ endpoint_id, id, attempts }: DeliveryRow) => {
      const earlier = JSON.parse(attempts) as Attempt[];
      sql.exec(
        'UPDATE deliveries SET attempts = ? WHERE endpoint_id = ? AND id = ?',
        JSON.stringify(earlier.map((attempt) => ({ ...attempt, response: null }))),
        endpoint_id,
        id,
      );
    },

    deleteByEndpoint: (endpointId: string) => {
      sql.exec('DELETE FROM retries WHERE endpoint_id = ?', endpointId);
      sql.exec('DELETE FROM deliveries WHERE endpoint_id = ?', endpointId);
    },
  };
};

export type Deliveries = ReturnType<typeof openDeliveries>;
