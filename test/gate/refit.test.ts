import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openCopyTables, refitTables } from '../../src/gate/home/copy-tables.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { countRows } from '../support/gate.ts';

const KEY = 'id TEXT PRIMARY KEY, status TEXT NOT NULL';

const onEmptyStorage = <T>(work: (storage: DurableObjectStorage) => T) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, { storage }) => {
    await storage.deleteAll();
    return work(storage);
  });

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

test('a column that this release doesn’t write stays', async () => {
  expect(await refit(`${KEY}, gone TEXT`, KEY)).toEqual({ id: '0', status: '1', gone: '2' });
});

test.for(['TEXT', 'TEXT NOT NULL'])('a column of another release (%s) is no reason to rewrite rows', (type) =>
  onEmptyStorage(({ sql }) => {
    sql.exec(`CREATE TABLE rows (${KEY}, gone ${type}) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE rows_next (${KEY}, later INTEGER NOT NULL DEFAULT 7) WITHOUT ROWID`);
    for (let i = 0; i < 100; i++) sql.exec("INSERT INTO rows VALUES (?, 'active', '')", `id-${i}`);
    expect(countRows(sql, () => refitTables(sql, ['rows'], '_next'))).toBeLessThan(5);
  }),
);

test('at an upgrade or a rollback, no gate drops its copy, because each row needs what it has needed since version 0.1', () =>
  onEmptyStorage(({ sql }) => {
    openCopyTables(sql).create('');
    const needed = (table: string) =>
      sql
        .exec<{ name: string }>(
          'SELECT name FROM pragma_table_info(?) WHERE "notnull" = 1 AND dflt_value IS NULL ORDER BY name',
          table,
        )
        .toArray()
        .map(({ name }) => name);
    expect(needed('keys')).toEqual(['deleted', 'fingerprint', 'id', 'scope']);
    expect(needed('licenses')).toEqual(['customer_email', 'id', 'license_key', 'status', 'terms']);
    expect(needed('products')).toEqual(['code', 'terms']);
  }));

test.for([
  ['a new column has no default', KEY, `${KEY}, later TEXT NOT NULL`],
  ['a row needs a column that this release doesn’t write', `${KEY}, gone TEXT NOT NULL`, KEY],
  ['a column has another type', `${KEY}, at TEXT`, `${KEY}, at INTEGER`],
  ['a column may no longer be null', `${KEY}, at TEXT`, `${KEY}, at TEXT NOT NULL`],
  ['the key has another column', 'code TEXT PRIMARY KEY, status TEXT NOT NULL', KEY],
  ['the key had one more column', 'id TEXT, kind TEXT, status TEXT NOT NULL, PRIMARY KEY (id, kind)', KEY],
] as const)('the rows of a table are not kept if %s', async ([, columns, next]) => {
  expect(await refit(columns, next)).toBeNull();
});
