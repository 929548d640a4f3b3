import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { type Customer, signUp } from '../support/client.ts';
import { evict, gate, kill, readGate, statistics, tamper } from '../support/gate.ts';
import { addEndpoint, readOutbox, withoutTable } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

// Events at their source: made with their cause, in one commit with it, and handed on whatever dies.

afterEach(() => {
  vi.useRealTimers();
});

const eventsOf = async ({ accountId }: Customer, name = 'license.verified') =>
  (await readOutbox<{ id: string }>(accountId, `SELECT id FROM events WHERE name = '${name}'`)).length;

const waitingAt = (accountId: string) =>
  readGate<{ events: string }>(accountId, 'SELECT events FROM outgoing');

const settle = async ({ accountId }: Customer) => {
  await runDurableObjectAlarm(gate(accountId));
  await expect.poll(() => waitingAt(accountId)).toEqual([]);
};

/** A license whose `license.created` has reached the outbox. */
const withLicense = async (customer: Customer) => {
  const license = await customer.createLicense();
  await expect.poll(() => eventsOf(customer, 'license.created')).toBe(1);
  return license;
};

test('license.verified is made from the first verify after an endpoint is answered for, and only while one wants it', async () => {
  const ada = await signUp();
  const { license_key: key } = await withLicense(ada);
  const verifies = async () => {
    const before = await eventsOf(ada);
    expect((await ada.verify(key)).body.valid).toBe(true);
    await settle(ada);
    return (await eventsOf(ada)) - before;
  };
  await settle(ada);
  expect(await verifies()).toBe(0);

  const { url } = await newReceiver();
  const other = await addEndpoint(ada, url, { events: ['license.created', 'payment.success'] });
  expect(await verifies()).toBe(0);
  const endpoint = await addEndpoint(ada, url);
  expect(await verifies()).toBe(1);
  const patch = (path: string, fields: object) => ada.asSession('PATCH', path, fields);
  for (const [made, path, fields] of [
    [0, endpoint.path, { events: ['subscription.cancelled'] }],
    [1, endpoint.path, { events: ['license.verified'] }],
    [0, endpoint.path, { status: 'disabled' }],
    [1, endpoint.path, { status: 'enabled' }],
    [1, other.path, { events: null }],
  ] as const) {
    expect((await patch(path, fields)).status).toBe(200);
    expect([fields, await verifies()]).toEqual([fields, made]);
  }
  await ada.asSession('DELETE', endpoint.path);
  expect(await verifies()).toBe(1);
  await ada.asSession('DELETE', other.path);
  expect(await verifies()).toBe(0);
  // A gate that is started anew remembers what is wanted of it.
  await evict(ada.accountId);
  expect(await verifies()).toBe(0);
});

test('a verify that is not valid makes no event', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2027-03-10T12:00:00.000Z') });
  const [ada, bob] = [await signUp(), await signUp()];
  const { url } = await newReceiver();
  await addEndpoint(ada, url);
  const expired = await ada.createLicense({ expires_at: '2027-03-10' });
  const suspended = await ada.createLicense();
  const revoked = await ada.createLicense();
  await ada.asSession('POST', `/api/v1/licenses/${suspended.id}/suspend`);
  await ada.asSession('POST', `/api/v1/licenses/${revoked.id}/revoke`);
  vi.setSystemTime('2027-03-11T00:00:00.000Z');
  const good = await ada.createLicense();
  const bobs = await bob.createLicense();
  for (const { license_key: key } of [expired, suspended, revoked, bobs]) {
    expect((await ada.verify(key)).body.valid).toBe(false);
  }
  expect((await ada.verify('NOT-A-LICENSE')).body.valid).toBe(false);
  expect((await ada.verify(good.license_key, `${ada.apiKey}x`)).status).toBe(403);
  await settle(ada);
  expect(await eventsOf(ada)).toBe(0);
  await ada.verify(good.license_key);
  await settle(ada);
  expect(await eventsOf(ada)).toBe(1);
});

test('a gate that dies between its commit and the hand-over hands over when it is back', async () => {
  const ada = await signUp();
  const receiver = await newReceiver();
  const { license_key: key } = await withLicense(ada);
  await addEndpoint(ada, receiver.url);
  const committed = await withoutTable(ada.accountId, 'events', async () => {
    expect((await ada.verify(key)).body).toMatchObject({ valid: true, api_usage: 1 });
    expect((await ada.asSession('POST', '/api/v1/licenses/create', {})).status).toBe(201);
    const rows = await waitingAt(ada.accountId);
    expect(rows).toHaveLength(2);
    await kill(ada.accountId);
    return rows;
  });
  expect(await waitingAt(ada.accountId)).toEqual(committed);
  expect(await receiver.received()).toEqual([]);
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  const names = (await receiver.receives(2)).map(({ body }) => JSON.parse(body).event as string);
  expect(new Set(names)).toEqual(new Set(['license.created', 'license.verified']));

  // Had it died after the hand-over and before it forgot the rows, it would hand them over again.
  for (const { events } of committed) {
    await tamper(ada.accountId, 'INSERT INTO outgoing (events) VALUES (?)', events);
  }
  await gate(ada.accountId).pull();
  await settle(ada);
  expect([await eventsOf(ada), await eventsOf(ada, 'license.created')]).toEqual([1, 2]);
  expect(await receiver.received()).toHaveLength(2);
});

test('an event that could not be taken over with its deliveries is handed over again, with them', async () => {
  const ada = await signUp();
  const receiver = await newReceiver();
  const { license_key: key } = await withLicense(ada);
  await addEndpoint(ada, receiver.url);
  await withoutTable(ada.accountId, 'deliveries', async () => {
    await ada.verify(key);
    // The hand-over fails some time after the verify is answered.
    await scheduler.wait(500);
    expect(await waitingAt(ada.accountId)).toHaveLength(1);
  });
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  await receiver.receives(1);
  expect(await eventsOf(ada)).toBe(1);
});

test('a verify is counted and its event made, or neither, however the gate dies', async () => {
  const ada = await signUp();
  const { license_key: key } = await withLicense(ada);
  await addEndpoint(ada, (await newReceiver()).url);
  const keys = await Promise.all(
    Array.from({ length: 6 }, async () => (await ada.asSession('POST', '/api/create-api-key')).body.api_key),
  );
  let answered = 0;
  for (const apiKey of keys) {
    const calls = Array.from({ length: 15 }, () => ada.verify(key, apiKey));
    await scheduler.wait(Math.random() * 20);
    await kill(ada.accountId);
    for (const { status } of await Promise.all(calls)) answered += Number(status === 200);
  }
  const { apiUsage } = await statistics(ada.accountId);
  expect(apiUsage).toBeGreaterThanOrEqual(answered);
  await gate(ada.accountId).pull();
  await settle(ada);
  expect(await eventsOf(ada)).toBe(apiUsage);
});

test('events without anybody to hear them are no deliveries', async () => {
  const ada = await signUp();
  await withLicense(ada);
  const receiver = await newReceiver();
  const endpoint = await addEndpoint(ada, receiver.url);
  expect(await endpoint.deliveries()).toEqual([]);
  expect(await readOutbox(ada.accountId, 'SELECT id FROM deliveries')).toEqual([]);
});
