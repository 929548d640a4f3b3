import { MAX_LANES } from './lanes.ts';
import type { DeliveryStatus, Lanes } from './outbox-tables.ts';

/** How many deliveries are taken until the row is written again. A restart reads as many. */
const MAX_TAKEN = 64;

/** What tells about a delivery whether it was settled after its endpoint's row of lanes was written. */
type Taken = {
  id: string;
  status: DeliveryStatus;
  dueAtMs: number;
};

const newLanes = (): Lanes => ({
  takenThrough: '',
  leases: [],
  width: MAX_LANES,
  hour: 0,
  delivered: 0,
  failed: 0,
});

/**
 * Returns the lanes as they are after a restart that lost those in memory. `leased` are the deliveries of the stored leases,
 * `next` the first that the stored lanes have not taken.
 */
const catchUp = (stored: Lanes, leased: Taken[], next: Taken[]): { lanes: Lanes; taken: number } => {
  const taken = next.slice(0, next.findLastIndex(({ status }) => status !== 'pending') + 1);
  const isPending = ({ status }: Taken) => status === 'pending';
  const pendingIds = new Set(leased.filter(isPending).map(({ id }) => id));
  // Nobody knows anymore who sends these, or whether anybody does. They are due.
  const lost = taken
    .filter(isPending)
    .map(({ id, dueAtMs }) => ({ deliveryId: id, lease: null, untilMs: dueAtMs }));
  const delivered = [...leased, ...taken].filter(({ status }) => status === 'delivered').length;
  const lanes: Lanes = {
    ...stored,
    takenThrough: taken.at(-1)?.id ?? stored.takenThrough,
    leases: [...stored.leases.filter(({ deliveryId }) => pendingIds.has(deliveryId)), ...lost],
    delivered: stored.delivered + delivered,
  };
  return { lanes, taken: taken.length };
};

/**
 * Stores one row per endpoint, because a row per lease and per counter would be billed separately. While deliveries only
 * succeed, the row may be behind: what it lacks can be told from the deliveries themselves.
 */
export const openLaneStore = (sql: SqlStorage) => {
  /** The lanes as they are, and how many deliveries were taken since their row was written. */
  const known = new Map<string, { lanes: Lanes; taken: number }>();

  const read = (endpointId: string) => {
    const [row] = sql.exec<{ value: string }>('SELECT value FROM lanes WHERE endpoint_id = ?', endpointId);
    const stored: Lanes = { ...newLanes(), ...(row && (JSON.parse(row.value) as Partial<Lanes>)) };
    const leased = sql.exec<Taken>(
      `SELECT id, status, due_at_ms AS dueAtMs FROM deliveries
       WHERE endpoint_id = ? AND id IN (SELECT value FROM json_each(?))`,
      endpointId,
      JSON.stringify(stored.leases.map(({ deliveryId }) => deliveryId)),
    );
    const next = sql.exec<Taken>(
      `SELECT id, status, due_at_ms AS dueAtMs FROM deliveries
       WHERE endpoint_id = ? AND id > ? ORDER BY id LIMIT ?`,
      endpointId,
      stored.takenThrough,
      MAX_TAKEN,
    );
    const current = catchUp(stored, leased.toArray(), next.toArray());
    if (row) known.set(endpointId, current);
    return current;
  };

  const save = (endpointId: string, lanes: Lanes) => {
    sql.exec(
      'INSERT INTO lanes (endpoint_id, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      endpointId,
      JSON.stringify(lanes),
    );
    known.set(endpointId, { lanes, taken: 0 });
  };

  return {
    /** Returns a copy. Changes to it last once it is saved or kept. */
    get: (endpointId: string): Lanes => ({ ...(known.get(endpointId) ?? read(endpointId)).lanes }),

    save,

    /**
     * Keeps lanes in memory that have changed in no other way than that deliveries were delivered which they had leased, in
     * the hour of the row, and that `taken` more were leased for the first time.
     */
    keep: (endpointId: string, lanes: Lanes, taken: number) => {
      const total = (known.get(endpointId)?.taken ?? 0) + taken;
      if (total > MAX_TAKEN) save(endpointId, lanes);
      else known.set(endpointId, { lanes, taken: total });
    },

    remove: (endpointId: string) => {
      sql.exec('DELETE FROM lanes WHERE endpoint_id = ?', endpointId);
      known.delete(endpointId);
    },
  };
};

export type LaneStore = ReturnType<typeof openLaneStore>;
