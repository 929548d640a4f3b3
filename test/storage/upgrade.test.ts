import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/gate/object/ledger.ts';
import { calendarMonth } from '../../src/gate/rules/period.ts';
import { BRANCH_STEPS } from '../../src/gate/branch/tables.ts';
import { GATE_STEPS } from '../../src/gate/home/tables.ts';
import { migrateObject } from '../../src/shared/objects/migrations.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { gateOf, outboxOf } from '../../src/shared/objects/address.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { evict, readGate, statistics } from '../support/gate.ts';
import { evictOutbox, readOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { gate01, outbox01, outbox02, type OutboxRows } from './fixtures.ts';

/** Replaces everything that an object has stored. */
const replaceStorage = (object: DurableObjectStub, sql: string, kv: Record<string, unknown>) =>
  runInDurableObject(object, async (_instance, { storage }) => {
    await storage.deleteAll();
    storage.sql.exec(sql);
    for (const [name, value] of Object.entries(kv)) storage.kv.put(name, value);
  });

const openOldGate = async ({ accountId, apiKeyId, createLicense }: Customer) => {
  const license = await createLicense({ customer_email: 'ada@example.com' });
  const [key] = await readGate<{ fingerprint: string }>(
    accountId,
    `SELECT fingerprint FROM keys WHERE id = '${apiKeyId}'`,
  );
  const sql = gate01({
    keyId: apiKeyId,
    fingerprint: key?.fingerprint ?? '',
    licenseId: license.id,
    licenseKey: license.license_key,
    periodStartMs: calendarMonth(Date.now()).startMs,
  });
  await replaceStorage(gateOf(env, accountId), sql, { name: accountId, announced_at: 1 });
  await evict(accountId);
  return license;
};

const openOldOutbox = async (customer: Customer, url: string, fixture: (rows: OutboxRows) => string) => {
  const { accountId, asSession } = customer;
  const { body } = await asSession('POST', '/api/webhooks', { url });
  const [row] = await readOutbox<{ value: string }>(accountId, 'SELECT value FROM endpoints');
  const sql = fixture({ endpointId: body.id, endpoint: row?.value ?? '', nowMs: Date.now() });
  await replaceStorage(outboxOf(env, accountId), sql, { name: accountId, told_gate: true });
  await evictOutbox(accountId);
  return body.id as string;
};

test('a gate of version 0.1 verifies from its copy, keeps its count and forwards its waiting event', async () => {
  const customer = await signUp();
  const receiver = await newReceiver();
  await customer.asSession('POST', '/api/webhooks', { url: receiver.url });
  const license = await openOldGate(customer);

  expect((await customer.verify(license.license_key)).body).toEqual({
    valid: true,
    status: 'active',
    expires_at: null,
    api_usage: 42,
    api_limit: 1_000,
  });
  const ids = (await receiver.receives(2)).map(({ headers }) => headers['webhook-id']);
  expect(ids).toContain('evt_000000000000000000g1');
  await evict(customer.accountId);
  expect(await statistics(customer.accountId)).toMatchObject({
    apiUsage: 42,
    firstValidVerifyMs: calendarMonth(Date.now()).startMs,
  });
});

test('an outbox of version 0.1 lists its deliveries and sends the delivery that is due', async () => {
  const customer = await signUp();
  const receiver = await newReceiver();
  const endpointId = await openOldOutbox(customer, receiver.url, outbox01);

  // Any new event wakes the outbox, which then finds the older delivery, too.
  await customer.createLicense();
  const ids = (await receiver.receives(2)).map(({ headers }) => headers['webhook-id']);
  expect(ids).toContain('evt_000000000000000000o2');
  expect(ids).not.toContain('evt_000000000000000000o1');
  const { body } = await customer.asSession('GET', `/api/webhooks/${endpointId}/deliveries`);
  expect(body.data.at(-1)).toMatchObject({
    id: 'dlv_000000000000000000o1',
    status: 'delivered',
    attempts: [{ status_code: 200, response: 'ok' }],
  });
});

test('an outbox with a row per attempt keeps its events, deliveries, attempts, retries and leases', async () => {
  const customer = await signUp();
  const receiver = await newReceiver();
  const endpointId = await openOldOutbox(customer, receiver.url, outbox02);
  const path = `/api/webhooks/${endpointId}/deliveries`;
  const { body } = await customer.asSession('GET', path);
  const inAnHour = expect.closeTo(Date.now() + 3_600_000, -4);
  expect(
    body.data.map((delivery: Json) => [
      delivery.id.at(-1),
      delivery.status,
      delivery.event,
      delivery.error,
      delivery.next_attempt_at && Date.parse(delivery.next_attempt_at),
      delivery.attempts.map((attempt: Json) => [attempt.status_code, attempt.response]),
    ]),
  ).toEqual([
    ['6', 'pending', 'license.verified', null, null, []],
    [
      '5',
      'pending',
      'license.verified',
      null,
      inAnHour,
      [
        [null, null],
        [500, 'no'],
      ],
    ],
    ['4', 'failed', 'license.verified', 'an error', null, []],
    ['2', 'pending', 'license.created', null, expect.any(Number), []],
    ['1', 'delivered', 'license.created', null, null, [[200, 'ok']]],
  ]);
  const { recent_events: recent } = (await customer.asSession('GET', '/api/dashboard')).body;
  expect(recent.map(({ id }: Json) => id.at(-1))).toEqual(['6', '5', '4', '3', '2', '1']);

  // The consumer that claimed the delivery before the update settles it with the old lease.
  const failure = {
    ok: false,
    statusCode: 500,
    error: 'no',
    durationMs: 1,
    response: '',
    retryAfterMs: null,
  };
  const job = { deliveryId: 'dlv_000000000000000000o6', lease: 'lease-of-o6', urlRevision: 0 };
  await outboxOf(env, customer.accountId).settle(endpointId, job, { ...failure, atMs: Date.now() }, false);
  const [settled] = (await customer.asSession('GET', path)).body.data;
  expect(settled).toMatchObject({ status: 'pending', attempts: [{ status_code: 500 }] });
  expect(Date.parse(settled.next_attempt_at)).toBeGreaterThan(Date.now());

  // The event is known, and the retry that is due is sent.
  await outboxOf(env, customer.accountId).accept(
    '[{"id":"evt_000000000000000000o3","name":"license.created","payload":"{}","createdAtMs":0}]',
  );
  const ids = (await receiver.receives(1)).map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual(['evt_000000000000000000o2']);
});

test('a gate drops a local copy of another version, loads it again and keeps its counts', async () => {
  const customer = await signUp();
  const license = await openOldGate(customer);
  await gateOf(env, customer.accountId).pull();
  await runInDurableObject(gateOf(env, customer.accountId), (_instance, { storage }) => {
    // Simulates the copy of a later release, which has a column that this code doesn't know.
    storage.sql.exec('ALTER TABLE licenses ADD COLUMN seats INTEGER');
    storage.sql.exec(`UPDATE facts SET value = json_set(value, '$.version', 99) WHERE name = 'progress'`);
  });
  await evict(customer.accountId);

  expect((await customer.verify(license.license_key)).body).toMatchObject({ valid: true, api_usage: 42 });
  const columns = await readGate<{ name: string }>(
    customer.accountId,
    `SELECT name FROM pragma_table_info('licenses')`,
  );
  expect(columns.map(({ name }) => name)).not.toContain('seats');
});

test.for([
  ['gate', GATE_STEPS],
  ['branch', BRANCH_STEPS],
] as const)('the counters of a %s from before calls were counted by region are kept', ([, steps]) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, { storage }) => {
    await storage.deleteAll();
    migrateObject(
      storage,
      steps.slice(
        0,
        steps.findIndex((step) => step.includes('COLUMN traffic')),
      ),
    );
    storage.sql.exec(
      `INSERT INTO recent_counters (only, counters, calls) VALUES (1, '{"period:0":{"value":41,"atMs":1}}', '')`,
    );
    migrateObject(storage, steps);
    const ledger = openLedger(storage.sql);
    expect(ledger.periodUsage(0)).toBe(41);
    expect(ledger.traffic.days()).toEqual({});
  }),
);

const tablesOf = (storage: DurableObjectStorage) =>
  storage.sql
    .exec<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 't%'`)
    .toArray()
    .map(({ name }) => name);

test('each step of an object’s migrations runs once, in order, and a failing step is rolled back', () =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_instance, { storage }) => {
    storage.sql.exec('DROP TABLE storage_version');
    const steps = ['CREATE TABLE t1 (a)', 'ALTER TABLE t1 ADD COLUMN b'];
    migrateObject(storage, steps);
    migrateObject(storage, steps);
    expect(tablesOf(storage)).toEqual(['t1']);

    const failing = [...steps, 'CREATE TABLE t2 (a)', 'CREATE TABLE t1 (again)'];
    expect(() => migrateObject(storage, failing)).toThrow('t1');
    expect(tablesOf(storage)).toEqual(['t1']);

    migrateObject(storage, [...steps, 'CREATE TABLE t3 (a)']);
    expect(tablesOf(storage)).toEqual(['t1', 't3']);
    // Code of an older release runs on the newer tables.
    migrateObject(storage, steps);
    expect(tablesOf(storage)).toEqual(['t1', 't3']);
  }));
