import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { calendarMonth } from '../../src/gate/period.ts';
import { migrateObject } from '../../src/shared/object-migrations.ts';
import { newId } from '../../src/shared/ids.ts';
import { gateOf, outboxOf } from '../../src/shared/objects.ts';
import { type Customer, signUp } from '../support/client.ts';
import { evict, readGate, statistics } from '../support/gate.ts';
import { evictOutbox, readOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { gate01, outbox01 } from './fixtures.ts';

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

const openOldOutbox = async (customer: Customer, url: string) => {
  const { accountId, asSession } = customer;
  const { body } = await asSession('POST', '/api/webhooks', { url });
  const [row] = await readOutbox<{ value: string }>(accountId, 'SELECT value FROM endpoints');
  const sql = outbox01({ endpointId: body.id, endpoint: row?.value ?? '', nowMs: Date.now() });
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
  const endpointId = await openOldOutbox(customer, receiver.url);

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

test('a gate drops a local copy of another version, loads it again and keeps its counts', async () => {
  const customer = await signUp();
  const license = await openOldGate(customer);
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
