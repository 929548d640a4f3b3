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
];
