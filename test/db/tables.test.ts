import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { LEFT_OUT, TABLES } from '../../src/db/tables.ts';

test('a backup names every table of the database, or says why it leaves one out', async () => {
  const { results } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table'
     AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'license_trigrams*' AND name <> 'd1_migrations'`,
  ).all<{ name: string }>();
  const known = [...TABLES.map(({ name }) => name), ...Object.keys(LEFT_OUT)];
  expect(known.toSorted()).toEqual(results.map(({ name }) => name).toSorted());
});
