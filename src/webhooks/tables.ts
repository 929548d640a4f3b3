import type { ObjectTables } from '../shared/objects/migrations.ts';

/** The outbox's tables. Ids sort by age, so no table needs an index by age: an index row costs as much as a table row. */
export const OUTBOX_TABLES: ObjectTables = {
  base: `
    CREATE TABLE endpoints (id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE event_blocks (
      last_id TEXT PRIMARY KEY, first_id TEXT NOT NULL, size INTEGER NOT NULL,
      first_delivery_id TEXT, last_delivery_id TEXT, events TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE deliveries (
      endpoint_id TEXT NOT NULL, id TEXT NOT NULL, event_id TEXT NOT NULL, block_id TEXT NOT NULL,
      status TEXT NOT NULL, failures INTEGER NOT NULL, due_at_ms INTEGER NOT NULL, error TEXT,
      created_at_ms INTEGER NOT NULL, attempts TEXT NOT NULL, PRIMARY KEY (endpoint_id, id)
    ) WITHOUT ROWID;
    CREATE TABLE retries (
      endpoint_id TEXT NOT NULL, due_at_ms INTEGER NOT NULL, id TEXT NOT NULL,
      PRIMARY KEY (endpoint_id, due_at_ms, id)
    ) WITHOUT ROWID;
    CREATE TABLE lanes (endpoint_id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    -- The order in which blocks of events arrive while a client listens.
    CREATE TABLE arrivals (number INTEGER PRIMARY KEY, block_id TEXT NOT NULL);
    CREATE TABLE hours (hour INTEGER PRIMARY KEY, delivered INTEGER NOT NULL, failed INTEGER NOT NULL);`,
  baseVersion: 4,
  steps: [
    // The second statement adds the keys of blocks without the event that they are named after: it was erased.
    `CREATE TABLE erased_events (id TEXT PRIMARY KEY) WITHOUT ROWID;
    INSERT INTO erased_events SELECT last_id FROM event_blocks WHERE instr(events, '"' || last_id || '"') = 0;`,
    // What calls with an Idempotency-Key have changed, with the result that a repeat gets.
    `CREATE TABLE made (id TEXT PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID;`,
    // Whether a block has more than `license.verified`, which not every client wants.
    `ALTER TABLE arrivals ADD COLUMN is_for_all INTEGER NOT NULL DEFAULT 1;`,
  ],
};
