import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import { emptyStorage } from '../support/empty-storage.ts';
import { carryOver, loadDatabase, normalizeSql, readRelease } from './v0.1.0.ts';

// scripts/carry-over-0.1.sql makes a database of version 0.1 the same as a new one.

const release = await readRelease();
const old = env.DB;
const fresh = env.DB2;

beforeEach(async () => {
  await emptyStorage();
  await loadDatabase(release, 'DB');
  await applyD1Migrations(fresh, env.MIGRATIONS);
});

const query = async (d1: D1Database, sql: string) => (await d1.prepare(sql).all()).results;

const IS_OWN = "name NOT GLOB '_cf_*' AND name NOT GLOB 'd1_*'";

const readSchema = async (d1: D1Database) => {
  const rows = await query(
    d1,
    `SELECT type, name, tbl_name, sql FROM sqlite_master WHERE ${IS_OWN} ORDER BY type, name`,
  );
  return rows.map((row) => ({ ...row, sql: normalizeSql(String(row['sql'])) }));
};

/** Columns in their order, indexes, and foreign keys of each table. */
const readTables = (d1: D1Database) =>
  query(
    d1,
    `SELECT name,
       (SELECT json_group_array(json_array(c.name, type, "notnull", dflt_value, pk, hidden)) FROM pragma_table_xinfo(t.name) AS c) AS columns,
       (SELECT json_group_array(json_array(i.name, "unique", origin, partial) ORDER BY i.name) FROM pragma_index_list(t.name) AS i) AS indexes,
       (SELECT json_group_array(json_array("table", "from", "to")) FROM pragma_foreign_key_list(t.name)) AS keys
     FROM sqlite_master AS t WHERE type = 'table' AND ${IS_OWN} ORDER BY name`,
  );

const namesOfMigrations = (d1: D1Database) => query(d1, 'SELECT name FROM d1_migrations ORDER BY id');

test('a database of v0.1.0 gets the tables, indexes, views, and triggers of a new one', async () => {
  await carryOver(old);
  await applyD1Migrations(old, env.MIGRATIONS);
  expect(await namesOfMigrations(old)).toEqual(await namesOfMigrations(fresh));
  const schema = await readSchema(old);
  expect(schema).toEqual(await readSchema(fresh));
  expect(await readTables(old)).toEqual(await readTables(fresh));
  expect(schema.length).toBeGreaterThan(70);
});

test('a database that is not at v0.1.0 is refused, and stays as it was', async () => {
  const refusal = 'apply the migrations of v0.1.0 first';
  await old.exec("DELETE FROM d1_migrations WHERE name GLOB '0040_*'");
  const before = await readSchema(old);
  await expect(carryOver(old)).rejects.toThrow(refusal);
  expect(await readSchema(old)).toEqual(before);
  // Nor is it changed by the migrations of 1.0.
  await expect(applyD1Migrations(old, env.MIGRATIONS)).rejects.toThrow('already exists');
  expect(await readSchema(old)).toEqual(before);

  await expect(carryOver(fresh)).rejects.toThrow(refusal);
  expect((await query(fresh, 'SELECT name FROM d1_migrations')).length).toBe(env.MIGRATIONS.length);
});

test('sessions without an id or a tag end, and an API key without the name of its secret may need any', async () => {
  const stored = 'SELECT count(*) AS n FROM sessions';
  const { n } = (await old.prepare(stored).first<{ n: number }>()) ?? { n: 0 };
  await old.batch([
    old.prepare(
      "INSERT INTO sessions SELECT '~older', account_id, 1, 2, NULL, NULL, NULL, NULL FROM users LIMIT 1",
    ),
    old.prepare(
      "INSERT INTO sessions SELECT 'untagged', account_id, 1, 2, 'ses_1', 3, NULL, NULL FROM users LIMIT 1",
    ),
    old.prepare(
      "INSERT INTO sessions SELECT '~tagged', account_id, 1, 2, 'ses_2', 3, NULL, NULL FROM users LIMIT 1",
    ),
    old.prepare("INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('acct_1', 'e', '', 1)"),
    old.prepare(
      `INSERT INTO api_keys (account_id, id, scope, fingerprint, sealed, masked_key, created_at)
       VALUES ('acct_1', 'key_1', 'full', 'f', 's', 'm', 1)`,
    ),
  ]);
  await carryOver(old);
  expect(await query(old, stored)).toEqual([{ n: n + 1 }]);
  expect(await query(old, "SELECT id FROM sessions WHERE token_hash = 'tagged'")).toEqual([{ id: 'ses_2' }]);
  expect(await query(old, "SELECT secret_id FROM api_keys WHERE id = 'key_1'")).toEqual([{ secret_id: '?' }]);
});
