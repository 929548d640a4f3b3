import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { LEFT_OUT, TABLES } from '../../src/db/tables.ts';
import { emptyStorage } from '../support/empty-storage.ts';

test('a backup names every table of the database, or says why it leaves one out', async () => {
  const { results } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table'
     AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'license_trigrams*' AND name <> 'd1_migrations'`,
  ).all<{ name: string }>();
  const known = [...TABLES.map(({ name }) => name), ...Object.keys(LEFT_OUT)];
  expect(known.toSorted()).toEqual(results.map(({ name }) => name).toSorted());
});

test('these tests run with the tables that the migrations make', async () => {
  const query = async (sql: string) => (await env.DB.prepare(sql).all()).results;
  const schema = () =>
    query(
      `SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name <> 'd1_migrations' ORDER BY type, name`,
    );
  const names = () => query('SELECT name FROM d1_migrations ORDER BY id');
  const made = [await schema(), await names()];
  await emptyStorage();
  await applyD1Migrations(env.DB, env.MIGRATIONS);
  expect(made).toEqual([await schema(), await names()]);
});
