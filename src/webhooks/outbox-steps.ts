// The outbox's tables. Ids sort by age, so no table needs an index by age: an index row costs as much as a table row.

/** Released steps never change: append a step instead (see `migrateObject`). */
export const OUTBOX_STEPS: readonly string[] = [
  // IF NOT EXISTS, because outboxes created before these steps already have the tables.
  `CREATE TABLE IF NOT EXISTS endpoints (id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
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
    );`,
  'ALTER TABLE deliveries ADD COLUMN error TEXT',
  // Fewer written rows per webhook: see "Storage" in docs/design.md. The previous release can't read these tables.
  `CREATE TABLE event_blocks (
      last_id TEXT PRIMARY KEY, first_id TEXT NOT NULL, size INTEGER NOT NULL,
      first_delivery_id TEXT, last_delivery_id TEXT, events TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE deliveries_with_attempts (
      endpoint_id TEXT NOT NULL, id TEXT NOT NULL, event_id TEXT NOT NULL, block_id TEXT NOT NULL,
      status TEXT NOT NULL, failures INTEGER NOT NULL, due_at_ms INTEGER NOT NULL, error TEXT,
      created_at_ms INTEGER NOT NULL, attempts TEXT NOT NULL, PRIMARY KEY (endpoint_id, id)
    ) WITHOUT ROWID;
    CREATE TABLE retries (
      endpoint_id TEXT NOT NULL, due_at_ms INTEGER NOT NULL, id TEXT NOT NULL,
      PRIMARY KEY (endpoint_id, due_at_ms, id)
    ) WITHOUT ROWID;
    CREATE TABLE lanes (endpoint_id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO event_blocks SELECT id, id, 1,
      (SELECT min(id) FROM deliveries WHERE event_id = events.id),
      (SELECT max(id) FROM deliveries WHERE event_id = events.id),
      json_array(json_object('id', id, 'name', name, 'payload', payload, 'createdAtMs', created_at_ms))
      FROM events;
    INSERT INTO deliveries_with_attempts SELECT endpoint_id, id, event_id, event_id,
      status, failures, due_at_ms, error, created_at_ms,
      (SELECT json_group_array(json_object('atMs', at_ms, 'statusCode', status_code, 'error', error,
         'durationMs', duration_ms, 'response', response)) FROM
         (SELECT * FROM (SELECT * FROM attempts WHERE delivery_id = deliveries.id ORDER BY at_ms DESC LIMIT 100)
          ORDER BY at_ms))
      FROM deliveries;
    INSERT INTO retries SELECT endpoint_id, due_at_ms, id FROM deliveries WHERE status = 'pending' AND lease IS NULL;
    INSERT INTO lanes SELECT endpoint_id, json_object('takenThrough', max(id), 'leases',
      (SELECT json_group_array(json_object('deliveryId', id, 'lease', lease, 'untilMs', due_at_ms)) FROM deliveries
       WHERE endpoint_id = old.endpoint_id AND lease IS NOT NULL AND status = 'pending'))
      FROM deliveries AS old GROUP BY endpoint_id;
    DROP TABLE attempts;
    DROP TABLE deliveries;
    DROP TABLE events;
    ALTER TABLE deliveries_with_attempts RENAME TO deliveries;`,
  // The order in which blocks of events arrive while a client listens.
  'CREATE TABLE arrivals (number INTEGER PRIMARY KEY, block_id TEXT NOT NULL)',
];
