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

/** Deletes the account's rows, but not the account. Returns false if `mayGoOn` has ended it early. */
export const deleteRows = async (
  db: Database,
  accountId: string,
  mayGoOn: () => boolean,
): Promise<boolean> => {
  for (const tables of PHASES) {
    let deleted = 1;
    while (deleted > 0) {
      if (!mayGoOn()) return false;
      const [first, ...others] = tables.map((table) => deleteSome(db, table, accountId));
      if (!first) break;
      const results = await (db as AccountDatabase).batch([first, ...others]);
      deleted = results.reduce((sum, { meta }) => sum + meta.changes, 0);
    }
  }
  return true;
};
