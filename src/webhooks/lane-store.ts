import { MAX_LANES } from './lanes.ts';
import type { Lanes } from './outbox-tables.ts';

const newLanes = (): Lanes => ({
  takenThrough: '',
  leases: [],
  width: MAX_LANES,
  hour: 0,
  delivered: 0,
  failed: 0,
});

/** Stores one row per endpoint, because a row per lease and per counter would be billed separately. */
export const openLaneStore = (sql: SqlStorage) => ({
  /** Returns a copy. Changes to it last once it is saved. */
  get: (endpointId: string): Lanes => {
    const [row] = sql.exec<{ value: string }>('SELECT value FROM lanes WHERE endpoint_id = ?', endpointId);
    return { ...newLanes(), ...(row && (JSON.parse(row.value) as Partial<Lanes>)) };
  },

  save: (endpointId: string, lanes: Lanes) => {
    sql.exec(
      'INSERT INTO lanes (endpoint_id, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      endpointId,
      JSON.stringify(lanes),
    );
  },

  remove: (endpointId: string) => {
    sql.exec('DELETE FROM lanes WHERE endpoint_id = ?', endpointId);
  },
});

export type LaneStore = ReturnType<typeof openLaneStore>;
