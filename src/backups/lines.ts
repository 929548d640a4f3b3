import type { Line as ObjectLine } from '../operators/backup.ts';

export type StoredValue = string | number | null;

/** Rows of a table of D1, named by the binding of its database. */
export interface RowsLine {
  database: string;
  table: string;
  columns: string[];
  rows: StoredValue[][];
}

/** A line of what an account's objects own. `id` is that of the account's part of the backup. */
export interface AccountLine {
  account: string;
  id: string;
  line: ObjectLine;
}

export type BackupLine = RowsLine | AccountLine;

/** How many rows and lines a backup has, by what they are of. */
export type Tally = Record<string, number>;

export const tally = (counts: Tally, line: BackupLine): void => {
  const add = (name: string, count: number) => (counts[name] = (counts[name] ?? 0) + count);
  if ('table' in line) add(`${line.database}.${line.table}`, line.rows.length);
  else if (line.line.type === 'end') add('accounts', 1);
  else if (line.line.type === 'rows') add(`${line.line.object}.${line.line.table}`, line.line.rows.length);
};

export const readLines = (text: string): BackupLine[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as BackupLine);
