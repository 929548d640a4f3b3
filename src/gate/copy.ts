import type { KeyScope } from '../shared/rules/api-keys.ts';
import type { StoredLicenseStatus } from '../shared/rules/licenses.ts';
import { candidateKeys } from '../shared/rules/license-key.ts';
import type { PlanTerms } from '../shared/rules/plans.ts';
import { createLru } from '../shared/lru.ts';

// The gate's copy of its account's rows in D1. Only the feed overwrites rows. The background load and read-throughs
// add missing rows and never replace rows that the feed has written.

export type CopiedAccount = PlanTerms;

export interface CopiedKey {
  fingerprint: string;
  scope: KeyScope;
  expiresAt: number | null;
  /** Deleted keys stay in the copy, so that a load that read them earlier can't bring them back. */
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

/** Increment it whenever these tables change, so that each gate drops its copy and loads it again from D1. */
const COPY_VERSION = 1;

const FACTS = 'CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID';

const TABLES = `
  CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, scope TEXT NOT NULL, expires_at INTEGER, deleted INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS licenses (
    license_key TEXT PRIMARY KEY, id TEXT NOT NULL, status TEXT NOT NULL, expires_at TEXT,
    customer_email TEXT NOT NULL
  ) WITHOUT ROWID;
`;

/** Minimum sizes of the in-memory caches; each may grow to twice its size (see `createLru`). */
const KEYS_IN_MEMORY = 5_000;
const LICENSES_IN_MEMORY = 5_000;

/** State of the copy. `loadedThrough` is the last license that the background load has copied. */
interface Progress {
  /** Absent in copies that predate versioning, which are version 1. */
  version?: number;
  epoch: string;
  appliedSeq: number;
  loadedThrough: string;
  complete: boolean;
}

export const openCopy = (sql: SqlStorage, epoch: string) => {
  sql.exec(FACTS);
  const keysInMemory = createLru<CopiedKey>(KEYS_IN_MEMORY);
  const licensesInMemory = createLru<CopiedLicense>(LICENSES_IN_MEMORY);

  const readFact = (name: string): unknown => {
    const [row] = sql.exec<{ value: string }>('SELECT value FROM facts WHERE name = ?', name);
    return row ? JSON.parse(row.value) : null;
  };
  const writeFact = (name: string, value: unknown) =>
    sql.exec(
      'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      name,
      JSON.stringify(value),
    );

  let progress = readFact('progress') as Progress | null;
  let account = readFact('account') as CopiedAccount | null;
  if (progress?.epoch !== epoch || (progress.version ?? 1) !== COPY_VERSION) {
    // Tables of another version can't be read, so they are dropped rather than emptied.
    sql.exec('DROP TABLE IF EXISTS keys; DROP TABLE IF EXISTS licenses; DELETE FROM facts');
    progress = { version: COPY_VERSION, epoch, appliedSeq: 0, loadedThrough: '', complete: false };
    account = null;
  }
  sql.exec(TABLES);
  const known: Progress = progress;
  const advance = (step: Partial<Progress>) => {
    Object.assign(known, step);
    writeFact('progress', known);
  };

  const write = (rows: Rows, onConflict: 'UPDATE' | 'NOTHING') => {
    const overwrites = onConflict === 'UPDATE';
    if (rows.account && (overwrites || !account)) {
      account = rows.account;
      writeFact('account', account);
    }
    for (const key of rows.keys) {
      sql.exec(
        `INSERT INTO keys (id, fingerprint, scope, expires_at, deleted) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO ${
          overwrites
            ? 'UPDATE SET scope = excluded.scope, expires_at = excluded.expires_at, deleted = excluded.deleted'
            : 'NOTHING'
        }`,
        key.id,
        key.fingerprint,
        key.scope,
        key.expiresAt,
        key.deleted ? 1 : 0,
      );
      keysInMemory.delete(key.id);
    }
    for (const license of rows.licenses) {
      sql.exec(
        `INSERT INTO licenses (license_key, id, status, expires_at, customer_email) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO ${
          overwrites
            ? 'UPDATE SET status = excluded.status, expires_at = excluded.expires_at, customer_email = excluded.customer_email'
            : 'NOTHING'
        }`,
        license.licenseKey,
        license.id,
        license.status,
        license.expiresAt,
        license.customerEmail,
      );
      licensesInMemory.delete(license.licenseKey);
    }
  };

  const license = (licenseKey: string): CopiedLicense | null => {
    const cached = licensesInMemory.get(licenseKey);
    if (cached) return cached;
    const [row] = sql.exec<{
      id: string;
      status: StoredLicenseStatus;
      expires_at: string | null;
      customer_email: string;
    }>('SELECT id, status, expires_at, customer_email FROM licenses WHERE license_key = ?', licenseKey);
    if (!row) return null;
    const found = {
      id: row.id,
      licenseKey,
      status: row.status,
      expiresAt: row.expires_at,
      customerEmail: row.customer_email,
    };
    licensesInMemory.set(licenseKey, found);
    return found;
  };

  return {
    progress: (): Readonly<Progress> => known,
    account: () => account,

    key: (id: string): CopiedKey | null => {
      const cached = keysInMemory.get(id);
      if (cached) return cached;
      const [row] = sql.exec<{
        fingerprint: string;
        scope: KeyScope;
        expires_at: number | null;
        deleted: number;
      }>('SELECT fingerprint, scope, expires_at, deleted FROM keys WHERE id = ?', id);
      if (!row) return null;
      const key = {
        fingerprint: row.fingerprint,
        scope: row.scope,
        expiresAt: row.expires_at,
        deleted: row.deleted === 1,
      };
      keysInMemory.set(id, key);
      return key;
    },

    /** Looks up a license by the key as presented, then by the generated key that the caller probably meant. */
    findLicense: (presented: string): CopiedLicense | null => {
      const cached = licensesInMemory.get(presented);
      if (cached) return cached;
      for (const licenseKey of candidateKeys(presented)) {
        const found = license(licenseKey);
        if (found) return found;
      }
      return null;
    },

    /** Applies rows from the feed, which overwrite the copy. */
    apply: (rows: Rows, appliedSeq: number) => {
      write(rows, 'UPDATE');
      advance({ appliedSeq });
    },

    /** Adds rows from a read-through where the copy has none. */
    adopt: (rows: Rows) => write(rows, 'NOTHING'),

    /** Adds a page of the background load. After the last page, a row missing here doesn't exist in D1. */
    adoptPage: (rows: Rows, complete: boolean) => {
      write(rows, 'NOTHING');
      advance({ loadedThrough: rows.licenses.at(-1)?.id ?? known.loadedThrough, complete });
    },
  };
};

export type Copy = ReturnType<typeof openCopy>;
