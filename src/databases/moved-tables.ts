import { type Table, tableNamed, TABLES } from '../db/tables.ts';

// What of an account moves with it to another database: every table with its rows, but for those that are named here.

/** Tables with rows of an account that stay where they are, and why. */
export const STAYING: Record<string, string> = {
  users: 'the first database has them',
  sessions: 'the first database has them',
  user_tokens: 'the first database has them',
  known_browsers: 'the first database has them',
  recovery_codes: 'the first database has them',
  portals: 'the first database has them',
  held_notices: 'the hourly work of their database sends them',
  feed: 'the gate has read it to its end',
  license_counts: 'triggers count again',
  search_accounts: 'triggers number accounts again',
};

/** Triggers and the database itself set these anew. */
const SET_ANEW: Record<string, string[]> = {
  licenses: ['seq'],
  // It only merges reads of the same hour, also with those of the first database.
  audit_log: ['read_key'],
};

export interface MovedTable extends Table {
  /** The column with the account's id. */
  owner: string;
  /** Rows are read in the order of this column, which is also that in which they were inserted, as far as it matters. */
  order: string;
  /** What a row is known by in both databases. */
  identity: string[];
  /** The columns that are the same in both. */
  compared: string[];
}

const toMoved = (table: Table): MovedTable => {
  const columns = table.columns.filter((column) => !SET_ANEW[table.name]?.includes(column));
  const kept = table.name === 'license_totals' ? ['licenses', 'bytes'] : [];
  return {
    ...table,
    columns,
    owner: table.name === 'accounts' ? 'id' : 'account_id',
    // The audit log is a table without rowids.
    order: table.name === 'audit_log' ? 'id' : 'rowid',
    identity: table.name === 'licenses' ? ['account_id', 'id'] : table.key,
    compared: columns.filter((column) => !kept.includes(column)),
  };
};

const isMoved = ({ name, columns }: Table) =>
  name === 'accounts' || (columns.includes('account_id') && !(name in STAYING) && name !== 'expiry_pass');

/** In the order in which they are copied. */
export const MOVED_TABLES: MovedTable[] = [...TABLES, tableNamed('object_states')]
  .filter(isMoved)
  .map(toMoved);

/**
 * The tables to copy from a database. The first one has the entries of signing in between those of the account, where the list
 * of entries looks in any case, so its audit log stays.
 */
export const tablesFrom = (isFirst: boolean): MovedTable[] =>
  MOVED_TABLES.filter(({ name }) => !isFirst || name !== 'audit_log');

/** Whether a database keeps the account's rows of a table after a move. */
export const isKept = (table: string, isFirst: boolean): boolean =>
  ['feed', 'license_counts', 'search_accounts'].includes(table)
    ? false
    : table in STAYING || (isFirst && table === 'audit_log');
