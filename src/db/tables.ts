import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import * as schema from './schema.ts';

// Which tables of D1 a backup has, and in which order they come in again. A new table is part of it without a line of code. The
// move of an account to another database takes its tables from here, too.

/** Tables that a backup leaves out. */
export const LEFT_OUT: Record<string, string> = {
  license_counts: 'triggers count again',
  search_accounts: 'triggers number accounts again',
  throttles: 'attempts are limited for minutes',
  object_states: 'objects report their state again',
  database_identity: 'the new database has one of its own',
};

/** Rows of other tables refer to these, or their triggers count for them. Where accounts are is known before they come in. */
const FIRST = ['account_places', 'moved_accounts', 'accounts', 'license_totals', 'users', 'licenses'];

/**
 * What triggers count again begins at nothing. Bytes are unknown until `measureStorage` counts them: the triggers leave the entry of
 * a create to its license, which may be deleted by now.
 */
const BEGINS_AT: Record<string, Record<string, string>> = {
  license_totals: { licenses: '0', bytes: 'NULL' },
};

/** Each has the body of a message, so a page of them is as large as the memory of a step allows. */
export const PAGE_MESSAGES = 4;
const PAGE_ROWS = 500;

export interface Table {
  name: string;
  columns: string[];
  /** The primary key, by which pages are read. */
  key: string[];
  pageRows: number;
  /** How each column of a line comes in: `value` is the row. */
  values: (columns: string[]) => string;
  /** Which rows come in. The backup of a table is as of its own time, so that it may have rows of an account that it lacks. */
  condition: (columns: string[]) => string;
}

export const quote = (name: string) => `"${name}"`;
export const listNames = (names: string[]) => names.map(quote).join(', ');

const toTable = (drizzled: SQLiteTable): Table => {
  const { name, columns, primaryKeys, foreignKeys } = getTableConfig(drizzled);
  const stored = columns.filter(({ generated }) => !generated).map((column) => column.name);
  const [composite] = primaryKeys;
  const key = composite
    ? composite.columns.map((column) => column.name)
    : columns.filter(({ primary }) => primary).map((column) => column.name);
  if (key.length === 0) throw new Error(`The table ${name} has no primary key, so no backup can read it.`);
  return {
    name,
    columns: stored,
    key,
    pageRows: name === 'store_messages' ? PAGE_MESSAGES : PAGE_ROWS,
    values: (found) => found.map((column, i) => BEGINS_AT[name]?.[column] ?? `value ->> ${i}`).join(', '),
    condition: (found) =>
      conditionOf(
        name,
        found,
        foreignKeys.map((foreign) => foreign.reference()),
      ),
  };
};

type Reference = ReturnType<ReturnType<typeof getTableConfig>['foreignKeys'][number]['reference']>;

const conditionOf = (name: string, columns: string[], references: Reference[]): string => {
  const value = (column: string) => `value ->> ${columns.indexOf(column)}`;
  const parents = references.map(({ columns: own, foreignTable, foreignColumns }) => {
    const values = own.map((column) => value(column.name)).join(', ');
    const parent = getTableConfig(foreignTable).name;
    return `(${values}) IN (SELECT ${listNames(foreignColumns.map((column) => column.name))} FROM ${quote(parent)})`;
  });
  if (parents.length > 0) return parents.join(' AND ');
  if (!columns.includes('account_id') || name === 'users') return 'true';
  const account = value('account_id');
  // The log of what concerns no single account has an account that doesn't exist.
  return `(${account} IN (SELECT "id" FROM "accounts") OR ${account} IN (SELECT "account_id" FROM "users") OR ${account} = 'operator')`;
};

const all = Object.values(schema).filter((value) => is(value, SQLiteTable)) as SQLiteTable[];

/** Parents come before the tables that refer to them. */
const inOrder = (): Table[] => {
  const byName = new Map(all.map((table) => [getTableConfig(table).name, table]));
  const placed = new Map<string, Table>();
  const place = (name: string): void => {
    const drizzled = byName.get(name);
    if (!drizzled || placed.has(name) || name in LEFT_OUT) return;
    for (const foreign of getTableConfig(drizzled).foreignKeys) {
      const parent = getTableConfig(foreign.reference().foreignTable).name;
      if (parent !== name) place(parent);
    }
    placed.set(name, toTable(drizzled));
  };
  for (const name of [...FIRST, ...[...byName.keys()].toSorted()]) place(name);
  return [...placed.values()];
};

export const TABLES = inOrder();

/** A table that is no part of backups. */
export const tableNamed = (name: string): Table => {
  const drizzled = all.find((table) => getTableConfig(table).name === name);
  if (!drizzled) throw new Error(`There is no table ${name}.`);
  return toTable(drizzled);
};

/** Reads the next rows, in the order of the primary key, as arrays of values. */
export const pageQuery = ({ name, columns, key, pageRows }: Table, isFirst: boolean): string => {
  const after = isFirst ? '' : `WHERE (${listNames(key)}) > (${key.map(() => '?').join(', ')}) `;
  return `SELECT ${listNames(columns)} FROM ${quote(name)} ${after}ORDER BY ${listNames(key)} LIMIT ${pageRows}`;
};

/** Inserts the rows that `json_each` reads, unless they are there. Returns a row for each that was inserted. */
export const insertQuery = ({ name, values, condition }: Table, columns: string[]): string =>
  `INSERT OR IGNORE INTO ${quote(name)} (${listNames(columns)}) SELECT ${values(columns)} FROM json_each(?) WHERE ${condition(columns)} RETURNING 1`;
