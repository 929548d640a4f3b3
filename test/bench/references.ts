// The Workers that the service is compared with, each in its own runtime.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Bundle, buildFixture } from './build.ts';
import { valueAt, type Values } from './load/plan.ts';
import { type Runtime, startWorker } from './runtime.ts';
import type { Licensed } from './seed.ts';

const FLOOR = {
  durable_objects: { bindings: [{ name: 'FLOOR', class_name: 'Floor' }] },
  migrations: [{ tag: 'v1', new_sqlite_classes: ['Floor'] }],
};

const BINDINGS = {
  floor: FLOOR,
  framed: FLOOR,
  stored: FLOOR,
  d1: { d1_databases: [{ binding: 'DB', database_name: 'three-statements' }] },
  echo: {},
  empty: {},
};

type Fixture = keyof typeof BINDINGS;

export const bundleFixture = (under: string, name: Fixture): Bundle =>
  buildFixture(name, join(under, `${name}-bundle`), BINDINGS[name]);

const startFixture = (under: string, name: Fixture): Promise<Runtime> => {
  const folder = join(under, name);
  mkdirSync(folder);
  return startWorker(bundleFixture(under, name), { name, folder });
};

const all = (values: Values) => Array.from({ length: values.count }, (_, index) => valueAt(values, index));

const TABLES = [
  'CREATE TABLE accounts (id TEXT PRIMARY KEY, api_usage INTEGER NOT NULL)',
  'CREATE TABLE api_keys (key_hash TEXT PRIMARY KEY, account_id TEXT NOT NULL)',
  `CREATE TABLE licenses (
    account_id TEXT NOT NULL, license_key TEXT NOT NULL, status TEXT NOT NULL, expires_at TEXT,
    PRIMARY KEY (account_id, license_key)
  )`,
];

/** Inserts the API keys and licenses of the service into the database of the three-statement Worker. */
const insertRows = async ({ miniflare }: Runtime, { accountId, apiKeys, licenses }: Licensed) => {
  const database = await miniflare.getD1Database('DB');
  for (const table of TABLES) await database.prepare(table).run();
  const hashes = all(apiKeys).map((key) => createHash('sha256').update(key).digest('hex'));
  await database.prepare('INSERT INTO accounts VALUES (?, 0)').bind(accountId).run();
  await database
    .prepare('INSERT INTO api_keys SELECT value, ? FROM json_each(?)')
    .bind(accountId, JSON.stringify(hashes))
    .run();
  await database
    .prepare("INSERT INTO licenses SELECT ?, value, 'active', NULL FROM json_each(?)")
    .bind(accountId, JSON.stringify(all(licenses)))
    .run();
};

export const startFixtures = async (under: string, account: Licensed) => {
  const floor = await startFixture(under, 'floor');
  const framed = await startFixture(under, 'framed');
  const stored = await startFixture(under, 'stored');
  const d1 = await startFixture(under, 'd1');
  const echo = await startFixture(under, 'echo');
  await insertRows(d1, account);
  return { floor, framed, stored, d1, echo };
};

export type Fixtures = Awaited<ReturnType<typeof startFixtures>>;
