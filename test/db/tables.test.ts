import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { LEFT_OUT, TABLES } from '../../src/db/tables.ts';
import { emptyStorage } from '../support/empty-storage.ts';

const NAMES = [...TABLES.map(({ name }) => name), ...Object.keys(LEFT_OUT)];

const query = async <Row>(sql: string) => (await env.DB.prepare(sql).all<Row>()).results;

const rowsOf = async (names: string[]) => {
  const found = await env.DB.batch(names.map((name) => env.DB.prepare(`SELECT * FROM ${name}`)));
  return found.map(({ results }, index) => [names[index], results]);
};

test('a backup names every table of the database, or says why it leaves one out', async () => {
  const tables = await query<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table'
     AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'license_trigrams*' AND name <> 'd1_migrations'`,
  );
  expect(NAMES.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
});

test('these tests run with the tables and rows that the migrations make', async () => {
  const read = async () => ({
    schema: await query(
      `SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name <> 'd1_migrations' ORDER BY type, name`,
    ),
    migrations: await query('SELECT name FROM d1_migrations ORDER BY id'),
    rows: await rowsOf(NAMES),
  });
  const made = await read();
  await emptyStorage();
  await applyD1Migrations(env.DB, env.MIGRATIONS);
  expect(made).toEqual(await read());
});
