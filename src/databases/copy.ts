import type { NamedDatabase } from '../db/client.ts';
import { jsonChunks } from '../db/json-rows.ts';
import { listNames, quote } from '../db/tables.ts';
import { NEARLY_FULL_BYTES } from '../shared/config/places.ts';
import type { MovedTable } from './moved-tables.ts';

// Copies an account's rows to another database. Each page is read back in the batch that inserts it, and compared. A page that
// is copied twice stays as it is.

/** The account can't move there. The message is for the operator. */
export class CopyRefused extends Error {}

export interface MoveRoute {
  accountId: string;
  from: NamedDatabase;
  to: NamedDatabase;
}

/** Row numbers that are read at once, because sorting them reads those of all rows. */
const MAX_LISTED = 10_000;

type Value = string | number | null;
type After = number | string;

/** Reads where the next rows are, in their order. */
const listNext = async ({ from, accountId }: MoveRoute, table: MovedTable, after: After | null) => {
  const { name, owner, order } = table;
  const condition = after === null ? '' : `AND ${order} > ?`;
  const query = `SELECT ${order} AS position FROM ${quote(name)} WHERE ${quote(owner)} = ? ${condition} ORDER BY ${order} LIMIT ${MAX_LISTED}`;
  const bound = after === null ? [accountId] : [accountId, after];
  const { results } = await from.d1
    .prepare(query)
    .bind(...bound)
    .all<{ position: After }>();
  return results.map(({ position }) => position);
};

const readRows = (
  { from, accountId }: MoveRoute,
  table: MovedTable,
  positions: After[],
): Promise<Value[][]> => {
  const { name, owner, order, columns } = table;
  const query = `SELECT ${listNames(columns)} FROM ${quote(name)}
    WHERE ${quote(owner)} = ? AND ${order} IN (SELECT value FROM json_each(?)) ORDER BY ${order}`;
  return from.d1.prepare(query).bind(accountId, JSON.stringify(positions)).raw<Value[]>();
};

const pick = (columns: string[], row: Value[], wanted: string[]) =>
  wanted.map((column) => row[columns.indexOf(column)] ?? null);

/** Inserts rows, and reads them back. */
const insertRows = async (
  { to }: MoveRoute,
  table: MovedTable,
  rows: Value[][],
  json: string,
): Promise<void> => {
  const { name, columns, identity, compared, values } = table;
  const keys = JSON.stringify(rows.map((row) => pick(columns, row, identity)));
  const found = identity.map((_column, i) => `value ->> ${i}`).join(', ');
  const [inserted, back] = await to.d1.batch<Record<string, Value>>([
    to.d1
      .prepare(
        `INSERT OR IGNORE INTO ${quote(name)} (${listNames(columns)}) SELECT ${values(columns)} FROM json_each(?)`,
      )
      .bind(json),
    to.d1
      .prepare(
        `SELECT ${listNames(compared)} FROM ${quote(name)}
         WHERE (${listNames(identity)}) IN (SELECT ${found} FROM json_each(?))`,
      )
      .bind(keys),
  ]);
  const copies = new Set(back?.results.map((row) => JSON.stringify(compared.map((column) => row[column]))));
  const differs = rows.some((row) => !copies.has(JSON.stringify(pick(columns, row, compared))));
  if (differs) throw new CopyRefused(`${to.binding} has other rows in the place of those of ${name}.`);
  if ((inserted?.meta.size_after ?? 0) >= NEARLY_FULL_BYTES)
    throw new CopyRefused(`${to.binding} takes 9 of its 10 GB by now.`);
};

const copyPage = async (route: MoveRoute, table: MovedTable, positions: After[]): Promise<number> => {
  const rows = await readRows(route, table, positions);
  let first = 0;
  for (const json of jsonChunks(rows)) {
    const { length } = JSON.parse(json) as unknown[];
    await insertRows(route, table, rows.slice(first, first + length), json);
    first += length;
  }
  return rows.length;
};

/**
 * Copies the rows of a table after a position. `onPage` is told of each page, and returns false to end this early. Returns whether
 * everything is copied.
 */
export const copyTable = async (
  route: MoveRoute,
  table: MovedTable,
  after: After | null,
  onPage: (rows: number, after: After) => boolean,
): Promise<boolean> => {
  for (let last = after; ;) {
    const listed = await listNext(route, table, last);
    for (let i = 0; i < listed.length; i += table.pageRows) {
      const positions = listed.slice(i, i + table.pageRows);
      const rows = await copyPage(route, table, positions);
      last = positions.at(-1) ?? last;
      if (!onPage(rows, last ?? '')) return false;
    }
    if (listed.length < MAX_LISTED) return true;
  }
};

/** The names of applied facts that may be about the account's payments: they name those, or a dispute. */
const FACTS = `SELECT name, applied_at FROM applied_facts WHERE name LIKE '%:disputed:%' OR EXISTS (
  SELECT 1 FROM (
    SELECT id AS ref FROM payments WHERE account_id = ?1 UNION SELECT checkout_ref FROM payments WHERE account_id = ?1
    UNION SELECT id FROM subscriptions WHERE account_id = ?1
    UNION SELECT provider_ref FROM subscriptions WHERE account_id = ?1
  ) WHERE instr(name, ref))`;

/** Lets the other database know which facts about payments were applied. It may know more than it needs. */
export const copyFacts = async ({ accountId, from, to }: MoveRoute): Promise<void> => {
  const paid =
    'SELECT 1 FROM payments WHERE account_id = ?1 UNION SELECT 1 FROM subscriptions WHERE account_id = ?1';
  if (!(await from.d1.prepare(`${paid} LIMIT 1`).bind(accountId).first())) return;
  const rows = await from.d1.prepare(FACTS).bind(accountId).raw<Value[]>();
  for (const json of jsonChunks(rows))
    await to.d1
      .prepare('INSERT OR IGNORE INTO applied_facts SELECT value ->> 0, value ->> 1 FROM json_each(?)')
      .bind(json)
      .run();
};

/** Counts what triggers have counted again, now that all rows are there. */
export const measureBytes = async ({ accountId, to }: MoveRoute): Promise<void> => {
  await to.d1
    .prepare(
      `UPDATE license_totals SET bytes = (SELECT bytes FROM stored_bytes WHERE stored_bytes.account_id = ?1)
       WHERE account_id = ?1`,
    )
    .bind(accountId)
    .run();
};

const countRows = async ({ d1 }: NamedDatabase, accountId: string, tables: MovedTable[]) => {
  const results = await d1.batch<{ n: number }>(
    tables.map(({ name, owner }) =>
      d1.prepare(`SELECT count(*) AS n FROM ${quote(name)} WHERE ${quote(owner)} = ?`).bind(accountId),
    ),
  );
  return results.map(({ results: [row] }) => row?.n ?? 0);
};

/** Compares how many rows both have. Returns the first table that differs, or null. `knowsMore` may have more in the other one. */
export const findDifference = async (
  { accountId, from, to }: MoveRoute,
  tables: MovedTable[],
  knowsMore: (table: string) => boolean,
): Promise<string | null> => {
  const [before, after] = await Promise.all([
    countRows(from, accountId, tables),
    countRows(to, accountId, tables),
  ]);
  const differing = tables.find(({ name }, i) => {
    const [there = 0, here = 0] = [after[i], before[i]];
    return knowsMore(name) ? there < here : there !== here;
  });
  return differing?.name ?? null;
};
