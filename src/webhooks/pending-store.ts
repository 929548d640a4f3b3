import { type DeliveryRow, toDelivery } from './delivery-store.ts';
import type { Lanes, StoredDelivery } from './outbox-tables.ts';

/**
 * Knows which deliveries are pending, without an index that every step would have to write: a pending delivery has not
 * been taken yet (its id is greater than `takenThrough`), or it is leased, or it has a row in `retries`.
 */
export const openPending = (sql: SqlStorage) => {
  const insertRetry = (endpointId: string, dueAtMs: number, id: string) =>
    sql.exec('INSERT INTO retries (endpoint_id, due_at_ms, id) VALUES (?, ?, ?)', endpointId, dueAtMs, id);

  const deleteRetry = (endpointId: string, dueAtMs: number, id: string) =>
    sql.exec(
      'DELETE FROM retries WHERE endpoint_id = ? AND due_at_ms = ? AND id = ?',
      endpointId,
      dueAtMs,
      id,
    );

  const listUntaken = (endpointId: string, { takenThrough }: Lanes, limit: number): DeliveryRow[] =>
    sql
      .exec<DeliveryRow>(
        'SELECT * FROM deliveries WHERE endpoint_id = ? AND id > ? ORDER BY id LIMIT ?',
        endpointId,
        takenThrough,
        limit,
      )
      .toArray();

  const listRetries = (endpointId: string, nowMs: number, limit: number): DeliveryRow[] =>
    sql
      .exec<DeliveryRow>(
        `SELECT deliveries.* FROM retries JOIN deliveries USING (endpoint_id, id)
         WHERE retries.endpoint_id = ? AND retries.due_at_ms <= ? ORDER BY retries.due_at_ms, retries.id LIMIT ?`,
        endpointId,
        nowMs,
        limit,
      )
      .toArray();

  return {
    /** Removes a delivery from `retries` and ends its lease. */
    remove: ({ endpointId, id, dueAtMs }: StoredDelivery, lanes: Lanes) => {
      lanes.leases = lanes.leases.filter(({ deliveryId }) => deliveryId !== id);
      deleteRetry(endpointId, dueAtMs, id);
    },

    /** Adds a pending delivery that is not leased. One that has not been taken yet needs no row. */
    add: (
      { endpointId, id, dueAtMs }: Pick<StoredDelivery, 'endpointId' | 'id' | 'dueAtMs'>,
      lanes: Lanes,
    ) => {
      if (id <= lanes.takenThrough) insertRetry(endpointId, dueAtMs, id);
    },

    /**
     * Gives a delivery to the caller, who has sent it, if a restart has lost the lease and nobody else has leased it since.
     * Returns whether it has.
     */
    adopt: (
      { endpointId, id }: Pick<StoredDelivery, 'endpointId' | 'id'>,
      lease: string,
      lanes: Lanes,
      nowMs: number,
    ): boolean => {
      const current = lanes.leases.find(({ deliveryId }) => deliveryId === id);
      if (current ? current.lease !== null : id <= lanes.takenThrough) return false;
      if (!current) {
        sql.exec(
          `INSERT INTO retries (endpoint_id, due_at_ms, id)
           SELECT endpoint_id, due_at_ms, id FROM deliveries WHERE endpoint_id = ? AND id > ? AND id < ?`,
          endpointId,
          lanes.takenThrough,
          id,
        );
        lanes.takenThrough = id;
      }
      const others = lanes.leases.filter(({ deliveryId }) => deliveryId !== id);
      lanes.leases = [...others, { deliveryId: id, lease, untilMs: nowMs }];
      return true;
    },

    /** Removes and returns deliveries that are due, longest waiting first. */
    take: (endpointId: string, lanes: Lanes, nowMs: number, limit: number): StoredDelivery[] => {
      const retries = listRetries(endpointId, nowMs, limit);
      const untaken = listUntaken(endpointId, lanes, limit);
      const taken: DeliveryRow[] = [];
      while (taken.length < limit) {
        const [retry, first] = [retries[0], untaken[0]];
        if (retry && (!first || retry.due_at_ms <= first.due_at_ms)) {
          retries.shift();
          deleteRetry(endpointId, retry.due_at_ms, retry.id);
          taken.push(retry);
        } else if (first) {
          untaken.shift();
          lanes.takenThrough = first.id;
          taken.push(first);
        } else break;
      }
      return taken.map((row) => toDelivery(row, lanes));
    },

    /** Returns when the next delivery is due or the next lease expires, or Infinity if no delivery is pending. */
    nextDueMs: (endpointId: string, lanes: Lanes): number => {
      const [retry] = sql.exec<{ due_at_ms: number }>(
        'SELECT due_at_ms FROM retries WHERE endpoint_id = ? ORDER BY due_at_ms LIMIT 1',
        endpointId,
      );
      const [untaken] = listUntaken(endpointId, lanes, 1);
      const expiries = lanes.leases.map(({ untilMs }) => untilMs);
      return Math.min(retry?.due_at_ms ?? Infinity, untaken?.due_at_ms ?? Infinity, ...expiries);
    },

    count: (endpointId: string, { takenThrough, leases }: Lanes): number =>
      leases.length +
      sql
        .exec<{ n: number }>(
          `SELECT (SELECT count(*) FROM retries WHERE endpoint_id = ?1) +
             (SELECT count(*) FROM deliveries WHERE endpoint_id = ?1 AND id > ?2) AS n`,
          endpointId,
          takenThrough,
        )
        .one().n,

    /** Counts the deliveries that wait for a retry, or since `sinceMs` or longer for their first attempt, up to a limit. */
    countWaiting: (endpointId: string, { takenThrough }: Lanes, sinceMs: number, limit: number): number =>
      sql
        .exec<{ n: number }>(
          `SELECT count(*) AS n FROM (
             SELECT 1 FROM retries WHERE endpoint_id = ?1 UNION ALL
             SELECT 1 FROM deliveries WHERE endpoint_id = ?1 AND id > ?2 AND created_at_ms <= ?3 LIMIT ?4)`,
          endpointId,
          takenThrough,
          sinceMs,
          limit,
        )
        .one().n,

    /** Fails the oldest pending deliveries with a greater id, and returns their ids in order. */
    failOldest: (
      endpointId: string,
      lanes: Lanes,
      { afterId, limit, error }: { afterId: string; limit: number; error: string },
    ): string[] => {
      const failed = sql
        .exec<{ id: string; due_at_ms: number }>(
          `UPDATE deliveries SET status = 'failed', error = ?1 WHERE endpoint_id = ?2 AND id IN
             (SELECT id FROM deliveries WHERE endpoint_id = ?2 AND id > ?3 AND status = 'pending' ORDER BY id LIMIT ?4)
           RETURNING id, due_at_ms`,
          error,
          endpointId,
          afterId,
          limit,
        )
        .toArray();
      for (const { id, due_at_ms: dueAtMs } of failed) deleteRetry(endpointId, dueAtMs, id);
      const ids = failed.map(({ id }) => id).toSorted();
      lanes.leases = lanes.leases.filter(({ deliveryId }) => !ids.includes(deliveryId));
      const last = ids.at(-1) ?? '';
      if (last > lanes.takenThrough) lanes.takenThrough = last;
      return ids;
    },

    cancel: (endpointId: string, lanes: Lanes) => {
      sql.exec(
        `UPDATE deliveries SET status = 'failed' WHERE endpoint_id = ?1 AND id IN (
           SELECT id FROM deliveries WHERE endpoint_id = ?1 AND id > ?2 UNION ALL
           SELECT id FROM retries WHERE endpoint_id = ?1 UNION ALL
           SELECT value FROM json_each(?3))`,
        endpointId,
        lanes.takenThrough,
        JSON.stringify(lanes.leases.map(({ deliveryId }) => deliveryId)),
      );
      sql.exec('DELETE FROM retries WHERE endpoint_id = ?', endpointId);
      const { last } = sql
        .exec<{ last: string | null }>(
          'SELECT max(id) AS last FROM deliveries WHERE endpoint_id = ?',
          endpointId,
        )
        .one();
      lanes.leases = [];
      lanes.takenThrough = last ?? '';
    },

    /** Makes failed deliveries pending again. They are due now, in the order of their ids. */
    replay: (endpointId: string, ids: string[], nowMs: number) => {
      const json = JSON.stringify(ids);
      sql.exec(
        `UPDATE deliveries SET status = 'pending', failures = 0, error = NULL, due_at_ms = ?3
         WHERE endpoint_id = ?1 AND id IN (SELECT value FROM json_each(?2))`,
        endpointId,
        json,
        nowMs,
      );
      sql.exec(
        'INSERT INTO retries (endpoint_id, due_at_ms, id) SELECT ?1, ?3, value FROM json_each(?2)',
        endpointId,
        json,
        nowMs,
      );
    },

    /** Makes retries due now, as if they had not failed yet. */
    restart: (endpointId: string, nowMs: number) => {
      sql.exec(
        `UPDATE deliveries SET failures = 0, due_at_ms = ?2
         WHERE endpoint_id = ?1 AND id IN (SELECT id FROM retries WHERE endpoint_id = ?1)`,
        endpointId,
        nowMs,
      );
      sql.exec('UPDATE retries SET due_at_ms = ?2 WHERE endpoint_id = ?1', endpointId, nowMs);
    },
  };
};

export type Pending = ReturnType<typeof openPending>;
