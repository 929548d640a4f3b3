import { openDisk } from './disk.ts';

/** The tables of a class of Durable Objects. What is released never changes: a change of the tables is a new step. */
export interface ObjectTables {
  /** Creates the tables of a new object. */
  base: string;
  /** The version of these tables: as many steps have led to them in version 0.1. */
  baseVersion: number;
  /** The changes since then. Each makes the next version. */
  steps: readonly string[];
}

export const versionOf = ({ baseVersion, steps }: ObjectTables): number => baseVersion + steps.length;

const VERSION_TABLE =
  'CREATE TABLE IF NOT EXISTS storage_version (only INTEGER PRIMARY KEY, version INTEGER NOT NULL)';

/** Returns the version of the object's tables, or null if it has none. */
const readVersion = (sql: SqlStorage): number | null => {
  sql.exec(VERSION_TABLE);
  const [row] = sql.exec<{ version: number }>('SELECT version FROM storage_version');
  if (row) return row.version;
  // The first objects of version 0.1 stored no version.
  return openDisk(sql).tables().length > 1 ? 0 : null;
};

/** Brings the tables to the latest version, as part of the current transaction. */
export const migrateTables = (sql: SqlStorage, tables: ObjectTables): void => {
  const { base, baseVersion, steps } = tables;
  const version = readVersion(sql);
  if (version !== null && version < baseVersion) {
    throw new Error(
      `The tables of this object have version ${version}, older than v0.1.0. Start it with v0.1.0 first.`,
    );
  }
  const latest = versionOf(tables);
  // After a rollback, the tables may be newer than this list. A step that the previous release can't work with has to be
  // announced in docs/running.md.
  if (version !== null && version >= latest) return;
  for (const step of version === null ? [base, ...steps] : steps.slice(version - baseVersion)) sql.exec(step);
  sql.exec(
    'INSERT INTO storage_version (only, version) VALUES (1, ?) ON CONFLICT DO UPDATE SET version = excluded.version',
    latest,
  );
};

/** Creates empty tables as they were in an earlier version, as part of the current transaction. */
export const createTables = (
  sql: SqlStorage,
  { base, baseVersion, steps }: ObjectTables,
  version: number,
): void => {
  for (const step of [base, ...steps.slice(0, version - baseVersion)]) sql.exec(step);
  sql.exec('UPDATE storage_version SET version = ?', version);
};

/**
 * Brings the object's tables to the latest version, in one transaction. Call it before a part of the object reads them.
 */
export const migrateObject = (storage: DurableObjectStorage, tables: ObjectTables) =>
  storage.transactionSync(() => migrateTables(storage.sql, tables));
