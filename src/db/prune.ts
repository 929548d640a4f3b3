import { and, asc, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { AccountDatabase } from './client.ts';
import { movedAccounts } from './schema.ts';

// Deletes rows of any account that are over, together with what a call of one account changes. The fence of that account doesn't
// know the others, so this is the only way to do so.

type Owned = SQLiteTable & { accountId: SQLiteColumn };

interface Over {
  /** The column with the rows' time, which has an index. */
  time: SQLiteColumn;
  throughMs: number;
  /** Rows that this is false for stay. */
  condition?: SQL;
  limit: number;
}

const rowid = sql`rowid`;

/**
 * Statement that deletes the oldest rows up to a time, of any account. It leaves out accounts that are moving: the copy of one
 * has to remain like the original. The states are no parameters, so that SQLite finds the partial index.
 */
export const deleteOldest = (
  db: AccountDatabase,
  table: Owned,
  { time, throughMs, condition, limit }: Over,
) => {
  const isStaying = sql`${table.accountId} NOT IN (SELECT ${movedAccounts.id} FROM ${movedAccounts}
    WHERE ${movedAccounts.state} IN ('leaving', 'arriving'))`;
  const oldest = db
    .select({ rowid })
    .from(table)
    .where(and(lte(time, throughMs), condition, isStaying))
    .orderBy(asc(time))
    .limit(limit);
  return db.delete(table).where(inArray(rowid, oldest));
};
