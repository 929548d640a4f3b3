import type { KeyScope } from '../../shared/rules/api-keys.ts';
import type { StoredLicenseStatus } from '../../shared/rules/licenses.ts';
import type { LicenseTerms, ProductTerms } from '../../shared/rules/terms.ts';
import type { CopiedKey, CopiedLicense, Rows } from '../rules/rows.ts';
import { ORPHAN_TABLES } from './orphans.ts';

// The tables of the gate's copy. During a reload there are two sets: verifies are answered from the current one, and
// the next one is filled in the background until it takes the current one's place.

/** All tables of the copy, which is read from D1 again if they are missing. */
export const COPY_TABLES = [
  'facts',
  'erased_keys',
  ...['keys', 'licenses', 'products'].flatMap((name) => [name, `${name}_next`]),
  ...ORPHAN_TABLES,
];

/**
 * Raise it with every change of these tables, or of what is copied of the account: each gate then loads its copy again, and goes
 * on with the old one until then. If a column comes or goes that every row needs, all gates drop the old one at once.
 */
export const COPY_VERSION = 4;

/** Deleted keys that stay in a complete copy. A refusal for one of them holds for longer than for an unknown key. */
const MAX_DELETED_KEYS = 1_000;

export type TableSet = '' | '_next';

const createTables = (set: TableSet) => `
  CREATE TABLE IF NOT EXISTS keys${set} (
    id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, scope TEXT NOT NULL, expires_at INTEGER, deleted INTEGER NOT NULL,
    allowed_ips TEXT
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS licenses${set} (
    license_key TEXT PRIMARY KEY, id TEXT NOT NULL, status TEXT NOT NULL, expires_at TEXT,
    customer_email TEXT NOT NULL, product TEXT, terms TEXT NOT NULL, updates_until TEXT
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS products${set} (code TEXT PRIMARY KEY, terms TEXT NOT NULL) WITHOUT ROWID;
`;

/** License keys erased during a load, so that a page that was read earlier can't bring them back. */
const ERASED_KEYS = 'CREATE TABLE IF NOT EXISTS erased_keys (license_key TEXT PRIMARY KEY) WITHOUT ROWID';

const TABLES = ['keys', 'licenses', 'products'];
const dropTables = (set: TableSet) => TABLES.map((table) => `DROP TABLE IF EXISTS ${table}${set};`).join(' ');

/** The feed overwrites rows, except what is final. Loads and read-throughs only add missing ones. */
const KEY_UPDATE =
  'UPDATE SET scope = excluded.scope, expires_at = excluded.expires_at, deleted = max(deleted, excluded.deleted)';
const licenseUpdate = ({ isLifted = false }: Rows['licenses'][number]) => `UPDATE SET id = excluded.id,
     status = iif(id = excluded.id AND status = 'revoked' AND NOT ${isLifted}, status, excluded.status),
     expires_at = excluded.expires_at, customer_email = excluded.customer_email, product = excluded.product,
     terms = excluded.terms, updates_until = excluded.updates_until`;
const PRODUCT_UPDATE = 'UPDATE SET terms = excluded.terms';

const writeKeys = (sql: SqlStorage, keys: Rows['keys'], set: TableSet, overwrites: boolean) => {
  for (const { id, fingerprint, scope, expiresAt, deleted, allowedIps } of keys) {
    sql.exec(
      `INSERT INTO keys${set} (id, fingerprint, scope, expires_at, deleted, allowed_ips) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO ${overwrites ? KEY_UPDATE : 'NOTHING'}`,
      id,
      fingerprint,
      scope,
      expiresAt,
      deleted ? 1 : 0,
      allowedIps ? JSON.stringify(allowedIps) : null,
    );
  }
};

const writeLicenses = (sql: SqlStorage, licenses: Rows['licenses'], set: TableSet, overwrites: boolean) => {
  for (const license of licenses) {
    const { licenseKey, id, status, expiresAt, customerEmail, product, terms, updatesUntil } = license;
    if (overwrites) sql.exec('DELETE FROM erased_keys WHERE license_key = ?', licenseKey);
    sql.exec(
      `INSERT INTO licenses${set}
           (license_key, id, status, expires_at, customer_email, product, terms, updates_until)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
         WHERE NOT EXISTS (SELECT 1 FROM erased_keys WHERE license_key = ?1)
         ON CONFLICT DO ${overwrites ? licenseUpdate(license) : 'NOTHING'}`,
      licenseKey,
      id,
      status,
      expiresAt,
      customerEmail,
      product,
      JSON.stringify(terms),
      updatesUntil,
    );
  }
};

const writeProducts = (sql: SqlStorage, products: Rows['products'], set: TableSet, overwrites: boolean) => {
  for (const { code, terms } of products) {
    // A deleted product gives no terms. Its row stays, so that a load that read it earlier can't bring its terms back.
    sql.exec(
      `INSERT INTO products${set} (code, terms) VALUES (?, ?)
         ON CONFLICT DO ${overwrites ? PRODUCT_UPDATE : 'NOTHING'}`,
      code,
      JSON.stringify(terms),
    );
  }
};

// Tables of another release are made to fit this one's code. There is no list of steps, because the copy's releases come and go
// in any order: a rollback also finds tables of another one.

interface Column extends Record<string, SqlStorageValue> {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
  pk: number;
}

/** Whether no row can be written without the column. */
const isNeeded = ({ notnull, dflt_value: value }: Column) => notnull === 1 && value === null;

const definition = ({ name, type, notnull, dflt_value: value }: Column) =>
  [name, type, notnull ? 'NOT NULL' : '', value === null ? '' : `DEFAULT ${value}`].join(' ');

const columnsOf = (sql: SqlStorage, table: string) =>
  sql.exec<Column>('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', table).toArray();

/** Returns the statements that make `table` fit, or null if its rows can't be kept. They rewrite no rows. */
const refit = (sql: SqlStorage, table: string, next: string): string[] | null => {
  const [before, after] = [columnsOf(sql, table), columnsOf(sql, next)];
  const missingFrom = (columns: Column[]) => (column: Column) =>
    columns.every(({ name }) => name !== column.name);
  const added = after.filter(missingFrom(before));
  const gone = before.filter(missingFrom(after));
  const isSame = (column: Column) => {
    const { type, notnull, pk } = before.find(({ name }) => name === column.name) ?? column;
    return type === column.type && notnull === column.notnull && pk === column.pk;
  };
  if (!after.every(isSame) || [...added, ...gone].some((column) => isNeeded(column) || column.pk > 0))
    return null;
  return added.map((column) => `ALTER TABLE ${table} ADD COLUMN ${definition(column)}`);
};

/**
 * Adds the columns that the tables lack. Those that this release doesn't know stay. The columns are those of the tables whose
 * names end with `suffix`. Returns false, and changes nothing, if rows can't be kept.
 */
export const refitTables = (sql: SqlStorage, tables: string[], suffix: string): boolean => {
  const statements = tables.map((table) => refit(sql, table, table + suffix));
  if (statements.includes(null)) return false;
  for (const statement of statements.flat()) if (statement !== null) sql.exec(statement);
  return true;
};

const create = (sql: SqlStorage, set: TableSet) => sql.exec(`${createTables(set)} ${ERASED_KEYS}`);
const drop = (sql: SqlStorage, set: TableSet) =>
  sql.exec(`${dropTables(set)} DROP TABLE IF EXISTS erased_keys;`);

export const openCopyTables = (sql: SqlStorage) => ({
  create: (set: TableSet) => create(sql, set),

  /** Also forgets the erased keys: the next load reads D1 as it is now, after a restore perhaps with these keys. */
  drop: (set: TableSet) => drop(sql, set),

  /** Puts the next tables in the place of the current ones. */
  swap: () =>
    sql.exec(
      `${dropTables('')} ${TABLES.map((table) => `ALTER TABLE ${table}_next RENAME TO ${table};`).join(' ')}`,
    ),

  /**
   * Makes the current tables, which are of another release, fit this one's code. A new column has its default in every row until
   * the copy is loaded again. Returns false if the tables can't be kept.
   */
  refit: (): boolean => {
    drop(sql, '_next');
    create(sql, '_next');
    return refitTables(sql, TABLES, '_next');
  },

  write: ({ keys, licenses, products }: Rows, set: TableSet, overwrites: boolean) => {
    writeKeys(sql, keys, set, overwrites);
    writeLicenses(sql, licenses, set, overwrites);
    writeProducts(sql, products, set, overwrites);
  },

  erase: (licenseKeys: string[], set: TableSet) => {
    for (const licenseKey of licenseKeys) {
      sql.exec(`DELETE FROM licenses${set} WHERE license_key = ?`, licenseKey);
      sql.exec('INSERT OR IGNORE INTO erased_keys (license_key) VALUES (?)', licenseKey);
    }
  },

  /** Forgets what was only needed during a load. */
  loadFinished: () => {
    sql.exec("DELETE FROM erased_keys; DELETE FROM products WHERE terms = 'null'");
  },

  /** Returns the products' terms by their code, with null for a deleted product. */
  readProducts: (): Map<string, ProductTerms | null> => {
    const rows = sql.exec<{ code: string; terms: string }>('SELECT code, terms FROM products');
    return new Map([...rows].map(({ code, terms }) => [code, JSON.parse(terms) as ProductTerms | null]));
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
      allowed_ips: string | null;
    }>('SELECT fingerprint, scope, expires_at, deleted, allowed_ips FROM keys WHERE id = ?', id);
    if (!row) return null;
    const { fingerprint, scope } = row;
    const allowedIps = row.allowed_ips === null ? null : (JSON.parse(row.allowed_ips) as string[]);
    return { fingerprint, scope, expiresAt: row.expires_at, allowedIps, deleted: row.deleted === 1 };
  },

  readLicense: (licenseKey: string): CopiedLicense | null => {
    const [row] = sql.exec<{
      id: string;
      status: StoredLicenseStatus;
      expires_at: string | null;
      customer_email: string;
      product: string | null;
      terms: string;
      updates_until: string | null;
    }>('SELECT * FROM licenses WHERE license_key = ?', licenseKey);
    if (!row) return null;
    return {
      id: row.id,
      licenseKey,
      status: row.status,
      expiresAt: row.expires_at,
      customerEmail: row.customer_email,
      product: row.product,
      terms: JSON.parse(row.terms) as LicenseTerms,
      updatesUntil: row.updates_until,
    };
  },
});

export type CopyTables = ReturnType<typeof openCopyTables>;
