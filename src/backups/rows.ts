import { sql } from 'drizzle-orm';
import { accountDatabases, type NamedDatabase } from '../db/client.ts';
import { inJson } from '../db/json-rows.ts';
import { accounts } from '../db/schema.ts';
import { insertQuery, pageQuery, type Table, TABLES } from '../db/tables.ts';
import type { StoredValue, RowsLine } from './lines.ts';

/** Reads the rows after a key. `last` is the key of the last one if there may be more. */
export const readPage = async (
  { db }: NamedDatabase,
  table: Table,
  after: StoredValue[] | null,
): Promise<{ rows: StoredValue[][]; last: StoredValue[] | null }> => {
  const bound = after ?? [];
  const query = bindAll(pageQuery(table, after === null), bound);
  const rows = await db.values<StoredValue[]>(query);
  const last = rows.at(-1);
  const positions = table.key.map((name) => table.columns.indexOf(name));
  return {
    rows,
    last: last && rows.length === table.pageRows ? positions.map((i) => last[i] ?? null) : null,
  };
};

/** Returns the query with values for its question marks. */
const bindAll = (query: string, values: readonly StoredValue[]) => {
  const [first = '', ...parts] = query.split('?');
  return sql.join([sql.raw(first), ...parts.flatMap((part, i) => [sql`${values[i]}`, sql.raw(part)])]);
};

/** Inserts the rows of a line. Returns how many were not there, and have what they refer to. */
export const insertRows = async ({ db }: NamedDatabase, line: RowsLine): Promise<number> => {
  const table = TABLES.find(({ name }) => name === line.table);
  const unknown = line.columns.filter((column) => !table?.columns.includes(column));
  if (!table || unknown.length > 0)
    throw new Error(`This release has no ${line.table} ${unknown.join(', ')}.`);
  const inserted = await db.values(bindAll(insertQuery(table, line.columns), [JSON.stringify(line.rows)]));
  return inserted.length;
};

/** Returns which of the accounts the service has, in any database: an isolate may not know yet where each is. */
export const findAccounts = async (env: Env, ids: string[]): Promise<Set<string>> => {
  const found = new Set<string>();
  for (const { db } of accountDatabases(env)) {
    const isOne = sql`${accounts.id} ${inJson(ids)}`;
    const rows = await db.select({ id: accounts.id }).from(accounts).where(isOne);
    for (const { id } of rows) found.add(id);
  }
  return found;
};
