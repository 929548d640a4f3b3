import type { WebhookEvent } from '../shared/events.ts';
import { newId } from '../shared/ids.ts';
import { openBacklog } from './backlog.ts';
import type { Attempt, Delivery, DeliveryRecord, DeliveryStatus } from './outbox-tables.ts';

type Row<T> = T & Record<string, SqlStorageValue>;

type DeliveryRow = Row<{
  id: string;
  endpoint_id: string;
  event_id: string;
  status: DeliveryStatus;
  failures: number;
  due_at_ms: number;
  lease: string | null;
  error: string | null;
  created_at_ms: number;
}>;

type EventRow = Row<{ id: string; name: WebhookEvent['name']; payload: string; created_at_ms: number }>;

const toDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  endpointId: row.endpoint_id,
  eventId: row.event_id,
  status: row.status,
  failures: row.failures,
  dueAtMs: row.due_at_ms,
  lease: row.lease,
  error: row.error,
  createdAtMs: row.created_at_ms,
});

const toEvent = (row: EventRow): WebhookEvent => ({
  id: row.id,
  name: row.name,
  payload: row.payload,
  createdAtMs: row.created_at_ms,
});

const countBy = (deliveries: Pick<Delivery, 'endpointId'>[]) => {
  const counts = new Map<string, number>();
  for (const { endpointId } of deliveries) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
  return counts;
};

/** Stores events, deliveries and attempts in the outbox's SQLite database. */
export const openDeliveries = (sql: SqlStorage, accountId: string) => {
  const backlog = openBacklog(sql, accountId);

  const getEvent = (id: string): WebhookEvent => {
    const [row] = sql.exec<EventRow>('SELECT * FROM events WHERE id = ?', id);
    if (!row) throw new Error(`The event ${id} of a delivery is missing.`);
    return toEvent(row);
  };

  const listAttempts = (deliveryId: string): Attempt[] =>
    sql
      .exec<
        Row<{
          at_ms: number;
          status_code: number | null;
          error: string | null;
          duration_ms: number;
          response: string | null;
        }>
      >('SELECT * FROM attempts WHERE delivery_id = ? ORDER BY at_ms', deliveryId)
      .toArray()
      .map((row) => ({
        atMs: row.at_ms,
        statusCode: row.status_code,
        error: row.error,
        durationMs: row.duration_ms,
        response: row.response,
      }));

  const toRecord = (row: DeliveryRow): DeliveryRecord => ({
    ...toDelivery(row),
    event: getEvent(row.event_id),
    attempts: listAttempts(row.id),
  });

  const findRow = (endpointId: string, id: string): DeliveryRow | undefined =>
    sql
      .exec<DeliveryRow>('SELECT * FROM deliveries WHERE endpoint_id = ? AND id = ?', endpointId, id)
      .toArray()[0];

  const update = (delivery: Delivery) => {
    const wasPending = findRow(delivery.endpointId, delivery.id)?.status === 'pending';
    sql.exec(
      `UPDATE deliveries SET status = ?, failures = ?, due_at_ms = ?, lease = ?, error = ?
       WHERE endpoint_id = ? AND id = ?`,
      delivery.status,
      delivery.failures,
      delivery.dueAtMs,
      delivery.lease,
      delivery.error,
      delivery.endpointId,
      delivery.id,
    );
    backlog.track(delivery.endpointId, wasPending, delivery.status === 'pending');
  };

  return {
    getEvent,
    update,

    /** Inserts the new events of a JSON array and returns them. */
    insertEvents: (events: string): Pick<WebhookEvent, 'id' | 'name'>[] =>
      sql
        .exec<Row<Pick<WebhookEvent, 'id' | 'name'>>>(
          `INSERT OR IGNORE INTO events (id, name, payload, created_at_ms)
           SELECT value ->> 'id', value ->> 'name', value ->> 'payload', value ->> 'createdAtMs' FROM json_each(?)
           RETURNING id, name`,
          events,
        )
        .toArray(),

    /** Inserts deliveries that are due now and returns their ids in the same order. */
    enqueue: (deliveries: Pick<Delivery, 'endpointId' | 'eventId'>[], nowMs: number): string[] => {
      const rows = deliveries.map(({ endpointId, eventId }) => [endpointId, newId('dlv'), eventId]);
      if (rows.length > 0) {
        sql.exec(
          `INSERT INTO deliveries (endpoint_id, id, event_id, status, failures, due_at_ms, lease, created_at_ms)
           SELECT value ->> 0, value ->> 1, value ->> 2, 'pending', 0, ?2, NULL, ?2 FROM json_each(?1)`,
          JSON.stringify(rows),
          nowMs,
        );
        for (const [endpointId, added] of countBy(deliveries)) backlog.grow(endpointId, added, nowMs);
      }
      return rows.map(([, id = '']) => id);
    },

    get: (endpointId: string, id: string): Delivery | null => {
      const row = findRow(endpointId, id);
      return row ? toDelivery(row) : null;
    },

    getRecord: (endpointId: string, id: string): DeliveryRecord | null => {
      const row = findRow(endpointId, id);
      return row ? toRecord(row) : null;
    },

    /** Returns a page of deliveries, newest first. */
    listPage: (endpointId: string, limit: number, beforeId: string | null): DeliveryRecord[] =>
      sql
        .exec<DeliveryRow>(
          'SELECT * FROM deliveries WHERE endpoint_id = ? AND id < ? ORDER BY id DESC LIMIT ?',
          endpointId,
          beforeId ?? '~',
          limit,
        )
        .toArray()
        .map(toRecord),

    /** Returns the deliveries that are due, longest waiting first. A delivery whose lease has expired is due. */
    listDue: (endpointId: string, nowMs: number, limit: number): Delivery[] =>
      sql
        .exec<DeliveryRow>(
          "SELECT * FROM deliveries WHERE status = 'pending' AND endpoint_id = ? AND due_at_ms <= ? ORDER BY due_at_ms LIMIT ?",
          endpointId,
          nowMs,
          limit,
        )
        .toArray()
        .map(toDelivery),

    /** Counts the deliveries with an unexpired lease. */
    countInFlight: (endpointId: string, nowMs: number): number =>
      sql
        .exec<{ n: number }>(
          "SELECT count(*) AS n FROM deliveries WHERE lease IS NOT NULL AND status = 'pending' AND endpoint_id = ? AND due_at_ms > ?",
          endpointId,
          nowMs,
        )
        .one().n,

    /** Returns when the endpoint's next delivery is due, or null if none is pending. */
    nextDueMs: (endpointId: string): number | null =>
      sql
        .exec<{ due: number | null }>(
          "SELECT min(due_at_ms) AS due FROM deliveries WHERE status = 'pending' AND endpoint_id = ?",
          endpointId,
        )
        .one().due,

    insertAttempt: (deliveryId: string, { atMs, statusCode, error, durationMs, response }: Attempt) =>
      sql.exec(
        `INSERT OR REPLACE INTO attempts (delivery_id, at_ms, status_code, error, duration_ms, response)
         VALUES (?, ?, ?, ?, ?, ?)`,
        deliveryId,
        atMs,
        statusCode,
        error,
        durationMs,
        response,
      ),

    /** Cancels the endpoint's pending deliveries. */
    cancelPending: (endpointId: string) => {
      sql.exec(
        "UPDATE deliveries SET status = 'failed', lease = NULL WHERE status = 'pending' AND endpoint_id = ?",
        endpointId,
      );
      backlog.forget(endpointId);
    },

    deleteByEndpoint: (endpointId: string) => {
      sql.exec(
        'DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE endpoint_id = ?)',
        endpointId,
      );
      sql.exec('DELETE FROM deliveries WHERE endpoint_id = ?', endpointId);
      backlog.forget(endpointId);
    },

    isEmpty: (): boolean => sql.exec('SELECT 1 FROM events LIMIT 1').toArray().length === 0,

    recentEvents: (limit: number): WebhookEvent[] =>
      sql.exec<EventRow>('SELECT * FROM events ORDER BY id DESC LIMIT ?', limit).toArray().map(toEvent),
  };
};

export type Deliveries = ReturnType<typeof openDeliveries>;
