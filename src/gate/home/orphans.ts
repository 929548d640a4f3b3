import { sha256 } from '../../shared/crypto/hash.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import type { CopiedLicense, Orphans, Rows } from '../rules/rows.ts';

// Orphans are rows of the copy that D1 no longer has, because it was restored to an earlier time. A customer who has bought since
// then must not be told that their license doesn't exist, so the gate keeps what it knows until somebody has looked at it. What
// was revoked or deleted since then stays so.

/** For how long a gate goes on with rows that D1 has lost. */
export const ORPHAN_MS = 14 * DAY_MS;
/** D1 can be restored to any time within 30 days. */
const GONE_MS = 31 * DAY_MS;
const MAX_GONE = 10_000;
/** No key comes after it. */
export const LAST_KEY = '\u{10ffff}';
/** Rows that are compared at once. */
const PAGE = 10_000;

const TABLES = `
  CREATE TABLE IF NOT EXISTS orphans (
    kind TEXT NOT NULL, ref TEXT NOT NULL, until_ms INTEGER NOT NULL, PRIMARY KEY (kind, ref)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS gone_keys (seq INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, at_ms INTEGER NOT NULL);
`;
export const ORPHAN_TABLES = ['orphans', 'gone_keys'];

type Kind = 'license' | 'key' | 'product';
const SOURCES: Record<Kind, { table: string; ref: string; columns: string; isLive: string }> = {
  license: {
    table: 'licenses',
    ref: 'license_key',
    columns: 'license_key, id, status, expires_at, customer_email, product, terms, updates_until',
    isLive: 'true',
  },
  key: {
    table: 'keys',
    ref: 'id',
    columns: 'id, fingerprint, scope, expires_at, deleted, allowed_ips',
    isLive: 'deleted = 0',
  },
  product: { table: 'products', ref: 'code', columns: 'code, terms', isLive: "terms <> 'null'" },
};
const KINDS = Object.keys(SOURCES) as Kind[];

/** Orphans of each kind in an operator's list. */
const MAX_LISTED = 1_000;

export const openOrphans = (sql: SqlStorage) => {
  sql.exec(TABLES);
  const count = () =>
    sql
      .exec<{ total: number; dueMs: number | null }>(
        'SELECT count(*) AS total, min(until_ms) AS dueMs FROM orphans',
      )
      .one();
  let { total, dueMs } = count();
  let hasGone = sql.exec('SELECT 1 FROM gone_keys LIMIT 1').toArray().length > 0;

  /** Adds the rows between two refs that the next tables lack, and makes final there what is final here. */
  const merge = (kind: Kind, after: string, through: string, nowMs: number) => {
    const { table, ref, columns, isLive } = SOURCES[kind];
    const range = `${ref} > ?1 AND ${ref} <= ?2`;
    const isInNext = `${ref} IN (SELECT ${ref} FROM ${table}_next)`;
    sql.exec(
      `DELETE FROM orphans WHERE kind = ?3 AND ref > ?1 AND ref <= ?2
         AND ref IN (SELECT ${ref} FROM ${table}_next)`,
      after,
      through,
      kind,
    );
    sql.exec(
      `INSERT OR IGNORE INTO orphans (kind, ref, until_ms)
       SELECT ?3, ${ref}, ?4 FROM ${table} WHERE ${range} AND ${isLive} AND NOT ${isInNext}`,
      after,
      through,
      kind,
      nowMs + ORPHAN_MS,
    );
    const isOver = `${ref} IN (SELECT ref FROM orphans WHERE kind = ?3 AND until_ms <= ?4)`;
    sql.exec(
      `INSERT INTO ${table}_next (${columns})
       SELECT ${columns} FROM ${table} WHERE ${range} AND NOT ${isInNext} AND NOT ${isOver}`,
      after,
      through,
      kind,
      nowMs,
    );
    if (kind === 'license')
      sql.exec(
        `UPDATE licenses_next SET status = 'revoked' WHERE ${range} AND status <> 'revoked' AND EXISTS (
           SELECT 1 FROM licenses AS old
           WHERE old.license_key = licenses_next.license_key AND old.id = licenses_next.id AND old.status = 'revoked')`,
        after,
        through,
      );
    if (kind === 'key')
      sql.exec(
        `UPDATE keys_next SET deleted = 1 WHERE ${range} AND id IN (SELECT id FROM keys WHERE deleted = 1)`,
        after,
        through,
      );
  };

  /** Those whose time was over only after their page was compared are in the next tables, and go with the next load. */
  const dropOver = (kind: Kind, nowMs: number) => {
    const { table, ref } = SOURCES[kind];
    const isKept = `ref IN (SELECT ${ref} FROM ${table}_next)`;
    sql.exec(`DELETE FROM orphans WHERE kind = ? AND until_ms <= ? AND NOT ${isKept}`, kind, nowMs);
  };

  return {
    total: () => total,

    /**
     * Compares the next page of licenses with the next tables, which are loaded, and with the first page all keys and products.
     * Returns the last license that it has compared, or null after the last page.
     */
    compare: (after: string, nowMs: number): string | null => {
      if (after === '') for (const kind of ['key', 'product'] as const) merge(kind, '', LAST_KEY, nowMs);
      const { n, through } = sql
        .exec<{ n: number; through: string | null }>(
          `SELECT count(*) AS n, max(license_key) AS through FROM (
             SELECT license_key FROM licenses WHERE license_key > ? ORDER BY license_key LIMIT ${PAGE})`,
          after,
        )
        .one();
      if (through !== null) merge('license', after, through, nowMs);
      const isLast = n < PAGE;
      if (isLast) for (const kind of KINDS) dropOver(kind, nowMs);
      ({ total, dueMs } = count());
      return isLast ? null : through;
    },

    /** D1 has told of these rows, or of their end, so it has them, or knows better. */
    adopt: ({ keys, licenses, products, erasedKeys }: Rows) => {
      if (total === 0) return;
      const refs: Record<Kind, string[]> = {
        license: [...licenses.map(({ licenseKey }) => licenseKey), ...erasedKeys],
        key: keys.map(({ id }) => id),
        product: products.map(({ code }) => code),
      };
      for (const kind of KINDS)
        for (const ref of refs[kind])
          total -= sql
            .exec('DELETE FROM orphans WHERE kind = ? AND ref = ? RETURNING 1', kind, ref)
            .toArray().length;
    },

    /** When the time of the first orphans is over, or null. D1 is then looked at once more. */
    dueMs: (): number | null => (total === 0 ? null : dueMs),

    /** The rows of the copy are gone. */
    forget: () => {
      sql.exec('DELETE FROM orphans');
      total = 0;
    },

    list: (): Orphans => ({
      licenses: sql
        .exec<Orphans['licenses'][number]>(
          `SELECT id, license_key AS licenseKey, customer_email AS customerEmail, status, until_ms AS untilMs
           FROM orphans JOIN licenses ON license_key = ref WHERE kind = 'license' LIMIT ${MAX_LISTED}`,
        )
        .toArray(),
      apiKeyIds: sql
        .exec<{ ref: string }>("SELECT ref FROM orphans WHERE kind = 'key'")
        .toArray()
        .map(({ ref }) => ref),
      products: sql
        .exec<{ ref: string }>("SELECT ref FROM orphans WHERE kind = 'product'")
        .toArray()
        .map(({ ref }) => ref),
      total,
    }),

    /** Remembers license keys that were replaced or deleted, by their hash, so that a restored D1 can't bring them back. */
    noteGone: (licenseKeys: string[], nowMs: number) => {
      for (const licenseKey of licenseKeys) {
        const [{ seq } = { seq: 0 }] = sql.exec<{ seq: number }>(
          `INSERT INTO gone_keys (hash, at_ms) VALUES (?, ?)
           ON CONFLICT (hash) DO UPDATE SET at_ms = excluded.at_ms RETURNING seq`,
          sha256(licenseKey),
          nowMs,
        );
        sql.exec('DELETE FROM gone_keys WHERE seq <= ?', seq - MAX_GONE);
        sql.exec(
          `DELETE FROM gone_keys WHERE seq IN (
             SELECT seq FROM (SELECT seq, at_ms FROM gone_keys ORDER BY seq LIMIT 10) WHERE at_ms < ?)`,
          nowMs - GONE_MS,
        );
        hasGone = true;
      }
    },

    /** Returns the licenses whose keys have not gone. The feed is right about those that have: `isFeed` makes them known again. */
    withoutGone: (licenses: CopiedLicense[], isFeed: boolean, nowMs: number): CopiedLicense[] => {
      if (!hasGone) return licenses;
      if (isFeed) {
        for (const { licenseKey } of licenses)
          sql.exec('DELETE FROM gone_keys WHERE hash = ?', sha256(licenseKey));
        return licenses;
      }
      const isGone = (hash: string) =>
        sql.exec('SELECT 1 FROM gone_keys WHERE hash = ? AND at_ms > ?', hash, nowMs - GONE_MS).toArray()
          .length > 0;
      return licenses.filter(({ licenseKey }) => !isGone(sha256(licenseKey)));
    },

    /** D1 is right about everything. */
    clear: () => {
      sql.exec('DELETE FROM orphans; DELETE FROM gone_keys;');
      [total, hasGone] = [0, false];
    },
  };
};
