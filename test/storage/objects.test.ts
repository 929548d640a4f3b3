import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { BRANCH_TABLES } from '../../src/gate/branch/gate-branch.ts';
import { MACHINE_INDEXES, openFindLicenses } from '../../src/gate/home/find-licenses.ts';
import { openMachineTotals } from '../../src/gate/home/machine-rows.ts';
import { openSeatCounts } from '../../src/gate/home/seat-counts.ts';
import { GATE_TABLES } from '../../src/gate/home/store.ts';
import { openLedger } from '../../src/gate/object/ledger.ts';
import { EVENTS_OF_COUNTERS, openOutgoing } from '../../src/gate/object/outgoing.ts';
import { migrateObject, type ObjectTables, versionOf } from '../../src/shared/objects/migrations.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { OUTBOX_TABLES } from '../../src/webhooks/tables.ts';
import { normalizeSql, readRelease } from './v0.1.0.ts';

/** Runs `work` on the empty storage of an object. */
const onEmptyStorage = <T>(work: (storage: DurableObjectStorage) => T) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, { storage }) => {
    await storage.deleteAll();
    return work(storage);
  });

const readSchema = ({ sql }: DurableObjectStorage) =>
  sql
    .exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*'")
    .toArray()
    .map((row) => normalizeSql(row.sql))
    .toSorted();

const { objects } = await readRelease();

test.for([
  ['GATE', GATE_TABLES],
  ['BRANCH', BRANCH_TABLES],
  ['OUTBOX', OUTBOX_TABLES],
] as const)(
  'an object of v0.1.0 in %s has the tables and the version that begin a new one',
  async ([binding, tables]) => {
    const recorded = objects.find((object) => object.binding === binding)?.statements ?? [];
    const load = (storage: DurableObjectStorage) => {
      for (const statement of recorded) storage.sql.exec(statement);
      migrateObject(storage, { ...tables, steps: [] });
      const [{ version } = {}] = storage.sql.exec('SELECT version FROM storage_version').toArray();
      return { version, schema: readSchema(storage) };
    };
    const create = (storage: DurableObjectStorage) => {
      migrateObject(storage, { ...tables, steps: [] });
      return readSchema(storage);
    };
    const old = await onEmptyStorage(load);
    expect(old.version).toBe(tables.baseVersion);
    // A gate also has its local copy, which it creates itself.
    const isCopied = /^CREATE TABLE (facts|keys|licenses|products|erased_keys)\(/;
    const owned = old.schema.filter((sql) => binding !== 'GATE' || !isCopied.test(sql));
    expect(owned).toEqual(await onEmptyStorage(create));
  },
);

test('a gate whose counters have no place for events yet keeps its counts', () =>
  onEmptyStorage((storage) => {
    const { sql } = storage;
    const stepsBefore = GATE_TABLES.steps.slice(0, GATE_TABLES.steps.indexOf(EVENTS_OF_COUNTERS));
    migrateObject(storage, { ...GATE_TABLES, steps: stepsBefore });
    sql.exec(
      'INSERT INTO recent_counters (only, counters) VALUES (1, \'{"period:0":{"value":7,"atMs":1}}\')',
    );
    migrateObject(storage, GATE_TABLES);
    const outgoing = openOutgoing(sql);
    expect([outgoing.isEmpty(), openLedger(sql, outgoing.kept).periodUsage(0)]).toEqual([true, 7]);
  }));

test('a gate whose machines are in no index yet finds their licenses, and counts their bytes again', () =>
  onEmptyStorage((storage) => {
    const { sql } = storage;
    const stepsBefore = GATE_TABLES.steps.slice(0, GATE_TABLES.steps.indexOf(MACHINE_INDEXES));
    migrateObject(storage, { ...GATE_TABLES, steps: stepsBefore });
    sql.exec(
      `INSERT INTO activations (license_id, fingerprint, id, name, activated_at_ms, last_seen_at_ms, counted_at_ms, live_until_ms)
       VALUES ('lic_1', 'machine-1', 'act_1', 'Laptop', 1, 1, 1, 9), ('lic_2', 'machine-2', 'act_2', NULL, 1, 1, 1, 1);
       INSERT INTO machine_totals VALUES (1, 100, NULL)`,
    );
    migrateObject(storage, GATE_TABLES);
    expect(openMachineTotals(sql).pruneAtMs()).toBe(0);
    const find = openFindLicenses(sql, openSeatCounts(sql));
    const idsOf = (machine: string | null) =>
      find({ machine, after: null, isDescending: true, limit: 10 }, 5).licenses.map(([id]) => id);
    expect(['lap', 'machine-1', 'act_2', null].map(idsOf)).toEqual([
      ['lic_1'],
      ['lic_1'],
      ['lic_2'],
      ['lic_1'],
    ]);
  }));

const BASE: ObjectTables = { base: 'CREATE TABLE t1 (a)', baseVersion: 5, steps: [] };
const withSteps = (...steps: string[]): ObjectTables => ({ ...BASE, steps });
const ADD_COLUMN = 'ALTER TABLE t1 ADD COLUMN b';
const ADD_TABLE = 'CREATE TABLE t2 (a)';

test('each step runs once, in order, and a failing step is rolled back', () =>
  onEmptyStorage((storage) => {
    migrateObject(storage, BASE);
    const before = readSchema(storage);
    expect(before.join()).toContain('CREATE TABLE t1(a)');
    const failing = withSteps(ADD_COLUMN, ADD_TABLE, 'CREATE TABLE t1 (again)');
    expect(() => migrateObject(storage, failing)).toThrow('t1');
    expect(readSchema(storage)).toEqual(before);

    migrateObject(storage, withSteps(ADD_COLUMN));
    migrateObject(storage, withSteps(ADD_COLUMN));
    migrateObject(storage, withSteps(ADD_COLUMN, ADD_TABLE));
    const after = readSchema(storage);
    expect(after.join()).toContain('CREATE TABLE t1(a,b)');
    expect(after.join()).toContain('CREATE TABLE t2(a)');
    // Code of an older release runs on the newer tables.
    migrateObject(storage, BASE);
    expect(readSchema(storage)).toEqual(after);
  }));

test('a new object gets the base and all steps', async () => {
  const tables = withSteps(ADD_COLUMN, ADD_TABLE);
  const [created, migrated] = [
    await onEmptyStorage((storage) => {
      migrateObject(storage, tables);
      return readSchema(storage);
    }),
    await onEmptyStorage((storage) => {
      migrateObject(storage, BASE);
      migrateObject(storage, tables);
      return readSchema(storage);
    }),
  ];
  expect(created).toEqual(migrated);
  expect(versionOf(tables)).toBe(7);
});

test.for([
  [
    'with version 4',
    'CREATE TABLE storage_version (only INTEGER PRIMARY KEY, version INTEGER NOT NULL); INSERT INTO storage_version VALUES (1, 4)',
  ],
  ['without a version', ''],
])('an object from before v0.1.0 is refused, and stays as it was: %s', ([, version = '']) =>
  onEmptyStorage((storage) => {
    storage.sql.exec(`CREATE TABLE t1 (old); ${version}`);
    expect(() => migrateObject(storage, withSteps(ADD_COLUMN))).toThrow('older than v0.1.0');
    expect(readSchema(storage).join()).toContain('CREATE TABLE t1(old)');
  }),
);
