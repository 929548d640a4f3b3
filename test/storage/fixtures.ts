// Storage of Durable Objects as released versions left it. Never change a fixture: add one for each release that changes
// an object's tables.

export interface GateRows {
  keyId: string;
  fingerprint: string;
  licenseId: string;
  licenseKey: string;
  periodStartMs: number;
}

/** A gate of version 0.1: no `storage_version`, and a copy without a version. It has counted 41 calls. */
export const gate01 = ({ keyId, fingerprint, licenseId, licenseKey, periodStartMs }: GateRows) => `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE keys (
    id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, scope TEXT NOT NULL, expires_at INTEGER, deleted INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE licenses (
    license_key TEXT PRIMARY KEY, id TEXT NOT NULL, status TEXT NOT NULL, expires_at TEXT,
    customer_email TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE outgoing (seq INTEGER PRIMARY KEY, events TEXT NOT NULL);
  INSERT INTO facts VALUES
    ('account', '{"plan":"free","periodStart":null,"periodEnd":null,"planUntil":null}'),
    ('progress', '{"epoch":"1","appliedSeq":0,"loadedThrough":"${licenseId}","complete":true}');
  INSERT INTO keys VALUES ('${keyId}', '${fingerprint}', 'full', NULL, 0);
  INSERT INTO licenses VALUES ('${licenseKey}', '${licenseId}', 'active', NULL, 'ada@example.com');
  INSERT INTO counters VALUES
    ('period:${periodStartMs}', 41, ${periodStartMs}),
    ('key:${keyId}', 1, ${periodStartMs}),
    ('first:valid_verify', 1, ${periodStartMs});
  INSERT INTO outgoing VALUES (1,
    '[{"id":"evt_000000000000000000g1","name":"license.verified","payload":"{\\"event\\":\\"license.verified\\"}","createdAtMs":${periodStartMs}}]');
`;

export interface OutboxRows {
  endpointId: string;
  /** The endpoint's JSON, as the outbox stores it. */
  endpoint: string;
  nowMs: number;
}

/** An outbox of version 0.1 with one delivered event and one whose delivery is due. */
export const outbox01 = ({ endpointId, endpoint, nowMs }: OutboxRows) => `
  CREATE TABLE endpoints (id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE events (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, payload TEXT NOT NULL, created_at_ms INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE deliveries (
    endpoint_id TEXT NOT NULL, id TEXT NOT NULL, event_id TEXT NOT NULL, status TEXT NOT NULL,
    failures INTEGER NOT NULL, due_at_ms INTEGER NOT NULL, lease TEXT, created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, id)
  ) WITHOUT ROWID;
  CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at_ms) WHERE status = 'pending';
  CREATE INDEX deliveries_in_flight ON deliveries (endpoint_id, due_at_ms)
    WHERE lease IS NOT NULL AND status = 'pending';
  CREATE INDEX deliveries_by_event ON deliveries (event_id);
  CREATE TABLE attempts (
    delivery_id TEXT NOT NULL, at_ms INTEGER NOT NULL, status_code INTEGER, error TEXT,
    duration_ms INTEGER NOT NULL, response TEXT, PRIMARY KEY (delivery_id, at_ms)
  ) WITHOUT ROWID;
  CREATE TABLE hours (hour INTEGER PRIMARY KEY, delivered INTEGER NOT NULL, failed INTEGER NOT NULL);
  INSERT INTO endpoints VALUES ('${endpointId}', '${endpoint}');
  INSERT INTO events VALUES
    ('evt_000000000000000000o1', 'license.created', '{"event":"license.created","n":1}', ${nowMs}),
    ('evt_000000000000000000o2', 'license.created', '{"event":"license.created","n":2}', ${nowMs});
  INSERT INTO deliveries VALUES
    ('${endpointId}', 'dlv_000000000000000000o1', 'evt_000000000000000000o1', 'delivered', 0, ${nowMs}, NULL, ${nowMs}),
    ('${endpointId}', 'dlv_000000000000000000o2', 'evt_000000000000000000o2', 'pending', 0, ${nowMs}, NULL, ${nowMs});
  INSERT INTO attempts VALUES ('dlv_000000000000000000o1', ${nowMs}, 200, NULL, 12, 'ok');
  INSERT INTO hours VALUES (${Math.floor(nowMs / 3_600_000)}, 1, 0);
`;

/**
 * An outbox of the last release that stored each event and each attempt as a row. Besides the deliveries of version 0.1,
 * it has an event without a delivery, a delivery that failed for good, a retry that is due in an hour, and a delivery
 * whose attempt is in progress.
 */
export const outbox02 = (rows: OutboxRows) => `${outbox01(rows)}
  ALTER TABLE deliveries ADD COLUMN error TEXT;
  CREATE TABLE storage_version (only INTEGER PRIMARY KEY, version INTEGER NOT NULL);
  INSERT INTO storage_version VALUES (1, 2);
  INSERT INTO events
    SELECT 'evt_000000000000000000o' || value, 'license.verified', '{"event":"license.verified"}', ${rows.nowMs}
    FROM json_each('[3,4,5,6]');
  INSERT INTO deliveries VALUES
    ('${rows.endpointId}', 'dlv_000000000000000000o4', 'evt_000000000000000000o4', 'failed', 1, ${rows.nowMs}, NULL, ${rows.nowMs}, 'an error'),
    ('${rows.endpointId}', 'dlv_000000000000000000o5', 'evt_000000000000000000o5', 'pending', 2, ${rows.nowMs + 3_600_000}, NULL, ${rows.nowMs}, NULL),
    ('${rows.endpointId}', 'dlv_000000000000000000o6', 'evt_000000000000000000o6', 'pending', 0, ${rows.nowMs + 30_000}, 'lease-of-o6', ${rows.nowMs}, NULL);
  INSERT INTO attempts VALUES
    ('dlv_000000000000000000o5', ${rows.nowMs - 2_000}, NULL, 'the connection failed', 15000, NULL),
    ('dlv_000000000000000000o5', ${rows.nowMs - 1_000}, 500, 'the receiver responded with status 500', 3, 'no');
`;
