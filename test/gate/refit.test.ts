import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { refitTables } from '../../src/gate/home/refit.ts';
import { newId } from '../../src/shared/text/ids.ts';

const KEY = 'id TEXT PRIMARY KEY, status TEXT NOT NULL';

/** Gives a table with a row the columns of the next one. Returns what the table's rows are then, or null if they can't be kept. */
const refit = (columns: string, next: string) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_instance, { storage: { sql } }) => {
    sql.exec(`CREATE TABLE rows (${columns}) WITHOUT ROWID; CREATE TABLE rows_next (${next}) WITHOUT ROWID`);
    const { columnNames } = sql.exec('SELECT * FROM rows');
    sql.exec(`INSERT INTO rows VALUES (${columnNames.map((_, i) => `'${i}'`).join(', ')})`);
    if (!refitTables(sql, ['rows'], '_next')) return null;
    // The code of this release can write a row.
    sql.exec("INSERT INTO rows (id, status) VALUES ('new', 'active')");
    return sql.exec("SELECT * FROM rows WHERE id = '0'").one();
  });

test.for([
  ['a column that may be null', `${KEY}, later TEXT`, { id: '0', status: '1', later: null }],
  ['a column with a default', `${KEY}, later INTEGER NOT NULL DEFAULT 7`, { id: '0', status: '1', later: 7 }],
] as const)('a table that lacks %s gets it, and keeps its rows', async ([, next, row]) => {
  expect(await refit(KEY, next)).toEqual(row);
});

test('a column that this release doesn’t write stays, unless every row needs it', async () => {
  expect(await refit(`${KEY}, gone TEXT`, KEY)).toEqual({ id: '0', status: '1', gone: '2' });
  expect(await refit(`${KEY}, gone TEXT NOT NULL`, KEY)).toEqual({ id: '0', status: '1' });
});

test.for([
  ['a new column has no default', KEY, `${KEY}, later TEXT NOT NULL`],
  ['a column has another type', `${KEY}, at TEXT`, `${KEY}, at INTEGER`],
  ['a column may no longer be null', `${KEY}, at TEXT`, `${KEY}, at TEXT NOT NULL`],
  ['the key has another column', 'code TEXT PRIMARY KEY, status TEXT NOT NULL', KEY],
  ['the key had one more column', 'id TEXT, kind TEXT, status TEXT NOT NULL, PRIMARY KEY (id, kind)', KEY],
] as const)('the rows of a table are not kept if %s', async ([, columns, next]) => {
  expect(await refit(columns, next)).toBeNull();
});
