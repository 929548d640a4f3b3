import { getTableColumns, is, SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';

/** A value for each column of a table, or SQL for it. */
type RowValues<Table extends SQLiteTable> = {
  [Column in keyof Required<Table['$inferInsert']>]: SQL | NonNullable<Table['$inferInsert'][Column]> | null;
};

/**
 * Returns the `SELECT` of an `INSERT … SELECT`, with the values in the order of the table's columns:
 * `db.insert(feed).select(sql`${selectRow(feed, { kind: 'license', … })} FROM licenses WHERE …`)`
 */
export const selectRow = <Table extends SQLiteTable>(table: Table, values: RowValues<Table>): SQL => {
  const byColumn: Record<string, unknown> = values;
  const row = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const value = byColumn[name];
    return is(value, SQL) ? value : sql.param(value, column);
  });
  return sql`SELECT ${sql.join(row, sql`, `)}`;
};
