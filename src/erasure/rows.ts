import { eq, getTableColumns, is, sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { AccountDatabase, FirstDatabase } from '../db/client.ts';
import * as schema from '../db/schema.ts';

const MAX_ROWS_PER_STEP = 500;

interface OwnedTable {
  table: SQLiteTable;
  accountId: SQLiteColumn;
  primaryKey: SQLiteColumn[];
}

/** All tables with rows of accounts, found by their column, so that a table that is added later can't be forgotten. */
const OWNED: OwnedTable[] = Object.values<unknown>(schema).flatMap((table) => {
  if (!is(table, SQLiteTable)) return [];
  const { accountId } = getTableColumns(table) as Record<string, SQLiteColumn | undefined>;
  const { columns, primaryKeys } = getTableConfig(table);
  const primaryKey = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  return accountId ? [{ table, accountId, primaryKey }] : [];
});

/** The licenses go first: their triggers need the rows of other tables to clear the search index. */
const PHASES = [
  OWNED.filter(({ table }) => table === schema.licenses),
  OWNED.filter(({ table }) => table !== schema.licenses),
];

/** Databases of both kinds have all tables. */
type Database = FirstDatabase | AccountDatabase;

const deleteSome = (db: Database, { table, accountId: column, primaryKey }: OwnedTable, id: string) => {
  const key = sql.join(primaryKey, sql`, `);
  const some = sql`SELECT ${key} FROM ${table} WHERE ${eq(column, id)} LIMIT ${MAX_ROWS_PER_STEP}`;
  return (db as AccountDatabase).delete(table).where(sql`(${key}) IN (${some})`);
};

/**
 * Deletes the account's rows, but not the account, nor those of tables that are kept. `spend` gets the number of queries before
 * each step, and returns false to end this early. Returns whether all rows are gone.
 */
export const deleteRows = async (
  db: Database,
  accountId: string,
  spend: (queries: number) => boolean,
  isKept: (table: string) => boolean = () => false,
): Promise<boolean> => {
  for (const tables of PHASES) {
    for (let left = tables.filter(({ table }) => !isKept(getTableConfig(table).name)); left.length > 0;) {
      if (!spend(left.length)) return false;
      const [first, ...others] = left.map((table) => deleteSome(db, table, accountId));
      if (!first) break;
      const results = await (db as AccountDatabase).batch([first, ...others]);
      left = left.filter((_, i) => results[i]?.meta.changes);
    }
  }
  return true;
};
