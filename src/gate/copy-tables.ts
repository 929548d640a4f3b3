import type { KeyScope } from '../shared/rules/api-keys.ts';
import type { StoredLicenseStatus } from '../shared/rules/licenses.ts';
import type { PlanTerms } from '../shared/rules/plans.ts';

// The tables of the gate's copy. During a reload there are two sets: verifies are answered from the current one, and
// the next one is filled in the background until it takes the current one's place.

export type CopiedAccount = PlanTerms;

export interface CopiedKey {
  fingerprint: string;
  scope: KeyScope;
  expiresAt: number | null;
  /** A deleted key stays, so that a load that read it earlier can't bring it back. */
  deleted: boolean;
}

export interface CopiedLicense {
  id: string;
  licenseKey: string;
  customerEmail: string;
  status: StoredLicenseStatus;
  expiresAt: string | null;
}

export interface Rows {
  account?: CopiedAccount | undefined;
  keys: (CopiedKey & { id: string })[];
  licenses: CopiedLicense[];
}

/** Raise it with every change of these tables: each gate then drops its copy and loads it again from D1. */
export const COPY_VERSION = 1;

/** Deleted keys that stay in a complete copy. A refusal for one of them holds for longer than for an unknown key. */
const MAX_DELETED_KEYS = 1_000;

export type TableSet = '' | '_next';

const createTables = (set: TableSet) => `
  CREATE TABLE IF NOT EXISTS keys${set} (
    id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, scope TEXT NOT NULL, expires_at INTEGER, deleted INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS licenses${set} (
    license_key TEXT PRIMARY KEY, id TEXT NOT NULL, status TEXT NOT NULL, expires_at TEXT,
    customer_email TEXT NOT NULL
  ) WITHOUT ROWID;
`;

const dropTables = (set: TableSet) => `DROP TABLE IF EXISTS keys${set}; DROP TABLE IF EXISTS licenses${set};`;

/** The feed overwrites rows. Loads and read-throughs only add missing ones. */
const KEY_UPDATE =
  'UPDATE SET scope = excluded.scope, expires_at = excluded.expires_at, deleted = excluded.deleted';
const LICENSE_UPDATE =
  'UPDATE SET status = excluded.status, expires_at = excluded.expires_at, customer_email = excluded.customer_email';

export const openCopyTables = (sql: SqlStorage) => ({
  create: (set: TableSet) => sql.exec(createTables(set)),

  drop: (set: TableSet) => sql.exec(dropTables(set)),

  /** Puts the next tables in the place of the current ones. */
  swap: () =>
    sql.exec(
      `${dropTables('')} ALTER TABLE keys_next RENAME TO keys; ALTER TABLE licenses_next RENAME TO licenses;`,
    ),

  write: ({ keys, licenses }: Rows, set: TableSet, overwrites: boolean) => {
    for (const { id, fingerprint, scope, expiresAt, deleted } of keys) {
      sql.exec(
        `INSERT INTO keys${set} (id, fingerprint, scope, expires_at, deleted) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO ${overwrites ? KEY_UPDATE : 'NOTHING'}`,
        id,
        fingerprint,
        scope,
        expiresAt,
        deleted ? 1 : 0,
      );
    }
    for (const { licenseKey, id, status, expiresAt, customerEmail } of licenses) {
      sql.exec(
        `INSERT INTO licenses${set} (license_key, id, status, expires_at, customer_email) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO ${overwrites ? LICENSE_UPDATE : 'NOTHING'}`,
        licenseKey,
        id,
        status,
        expiresAt,
        customerEmail,
      );
    }
  },

  pruneDeletedKeys: (): string[] =>
    sql
      .exec<{ id: string }>(
        `DELETE FROM keys WHERE id IN
           (SELECT id FROM keys WHERE deleted = 1 ORDER BY id DESC LIMIT -1 OFFSET ${MAX_DELETED_KEYS})
         RETURNING id`,
      )
      .toArray()
      .map(({ id }) => id),

  readKey: (id: string): CopiedKey | null => {
    const [row] = sql.exec<{
      fingerprint: string;
      scope: KeyScope;
      expires_at: number | null;
      deleted: number;
    }>('SELECT fingerprint, scope, expires_at, deleted FROM keys WHERE id = ?', id);
    if (!row) return null;
    const { fingerprint, scope } = row;
    return { fingerprint, scope, expiresAt: row.expires_at, deleted: row.deleted === 1 };
  },

  readLicense: (licenseKey: string): CopiedLicense | null => {
    const [row] = sql.exec<{
      id: string;
      status: StoredLicenseStatus;
      expires_at: string | null;
      customer_email: string;
    }>('SELECT id, status, expires_at, customer_email FROM licenses WHERE license_key = ?', licenseKey);
    if (!row) return null;
    const { id, status } = row;
    return { id, licenseKey, status, expiresAt: row.expires_at, customerEmail: row.customer_email };
  },
});
