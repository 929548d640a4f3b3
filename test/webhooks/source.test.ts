import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, isoDate } from '../../src/shared/rules/dates.ts';
import { type Answer, type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, kill, statistics, storedEvents, tamper } from '../support/gate.ts';
import { addEndpoint, readEvents, readOutbox, withoutTable } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';

// Events are committed together with their cause and reach the outbox even if a Durable Object dies.

/** Returns the number of events with this name in the outbox. */
const countEvents = async ({ accountId }: Customer, name = 'license.verified') =>
  (await readEvents(accountId)).filter((event) => event.name === name).length;

/** Events that the gate has committed and not yet forwarded. */
const unforwarded = storedEvents;

const forwardAll = async ({ accountId }: Customer) => {
  await runDurableObjectAlarm(gate(accountId));
  await expect.poll(() => unforwarded(accountId)).toEqual([]);
};

/** Creates a license and waits for its `license.created` event to reach the outbox. */
const createForwardedLicense = async (customer: Customer) => {
  const license = await customer.createLicense();
  await expect.poll(() => countEvents(customer, 'license.created')).toBe(1);
  return license;
};

test('a verify creates a license.verified event only while a webhook subscribes to it, also one that is disabled', async () => {
  const ada = await signUp();
  const { license_key: key } = await createForwardedLicense(ada);
  const eventsOfVerify = async () => {
    const before = await countEvents(ada);
    expect((await ada.verify(key)).body.valid).toBe(true);
    await forwardAll(ada);
    return (await countEvents(ada)) - before;
  };
  await forwardAll(ada);
  expect(await eventsOfVerify()).toBe(0);

  const { url } = await newReceiver();
  const other = await addEndpoint(ada, url, { events: ['license.created', 'payment.success'] });
  expect(await eventsOfVerify()).toBe(0);
  const endpoint = await addEndpoint(ada, url);
  expect(await eventsOfVerify()).toBe(1);
  const patch = (path: string, fields: object) => ada.asSession('PATCH', path, fields);
  for (const [expectedEvents, path, fields] of [
    [0, endpoint.path, { events: ['subscription.cancelled'] }],
    [1, endpoint.path, { events: ['license.verified'] }],
    [1, endpoint.path, { status: 'disabled' }],
    [1, endpoint.path, { status: 'enabled' }],
    [1, other.path, { events: null }],
  ] as const) {
    expect((await patch(path, fields)).status).toBe(200);
    expect([fields, await eventsOfVerify()]).toEqual([fields, expectedEvents]);
  }
  await ada.asSession('DELETE', endpoint.path);
  expect(await eventsOfVerify()).toBe(1);
  await ada.asSession('DELETE', other.path);
  expect(await eventsOfVerify()).toBe(0);
  // The gate still knows its subscriptions after an eviction.
  await evict(ada.accountId);
  expect(await eventsOfVerify()).toBe(0);
});

describe('verify creates no license.verified event', () => {
  const startMs = Date.now();
  let ada: Customer;
  let goodKey: string;
  let keys: Record<string, string>;
  beforeAll(async () => {
    const [owner, bob] = [await signUp(), await signUp()];
    ada = owner;
    await addEndpoint(ada, (await newReceiver()).url);
    const expired = await ada.createLicense({ expires_at: isoDate(startMs + DAY_MS) });
    const suspended = await ada.createLicense();
    const revoked = await ada.createLicense();
    await ada.asSession('POST', `/api/v1/licenses/${suspended.id}/suspend`);
    await ada.asSession('POST', `/api/v1/licenses/${revoked.id}/revoke`);
    goodKey = (await ada.createLicense()).license_key;
    keys = {
      expired: expired.license_key,
      suspended: suspended.license_key,
      revoked: revoked.license_key,
      foreign: (await bob.createLicense()).license_key,
      unknown: 'NOT-A-LICENSE',
    };
  });

  const expectEvents = async (verify: () => Promise<Answer>, events: number) => {
    const before = await countEvents(ada);
    const answer = await verify();
    await forwardAll(ada);
    expect((await countEvents(ada)) - before).toBe(events);
    return answer;
  };

  beforeEach(() => useFakeClock(startMs + 3 * DAY_MS));

  test.for(['expired', 'suspended', 'revoked', 'foreign', 'unknown'])(
    'for a license key that is %s',
    async (state) => {
      const { body } = await expectEvents(() => ada.verify(keys[state]!), 0);
      expect(body.valid).toBe(false);
    },
  );

  test('with a wrong API key', async () => {
    const { status } = await expectEvents(() => ada.verify(goodKey, `${ada.apiKey}x`), 0);
    expect(status).toBe(403);
  });

  test('unless the license is valid', async () => {
    const { body } = await expectEvents(() => ada.verify(goodKey), 1);
    expect(body.valid).toBe(true);
  });
});

test('a gate that dies after its commit forwards the events when it restarts', async () => {
  useFakeClock();
  const ada = await signUp();
  const receiver = await newReceiver();
  const { license_key: key } = await createForwardedLicense(ada);
  await addEndpoint(ada, receiver.url);
  const committed = await withoutTable(ada.accountId, 'event_blocks', async () => {
    expect((await ada.verify(key)).body).toMatchObject({ valid: true, api_usage: 1 });
    expect((await ada.asSession('POST', '/api/v1/licenses/create', {})).status).toBe(201);
    const rows = await unforwarded(ada.accountId);
    expect(rows).toHaveLength(2);
    await kill(ada.accountId);
    return rows;
  });
  expect(await unforwarded(ada.accountId)).toEqual(committed);
  expect(await receiver.received()).toEqual([]);
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  const names = (await receiver.receives(2)).map(({ body }) => JSON.parse(body).event as string);
  expect(new Set(names)).toEqual(new Set(['license.created', 'license.verified']));

  // A gate that dies after forwarding and before deleting its rows forwards them a second time.
  await tamper(ada.accountId, 'INSERT INTO outgoing (events) VALUES (?)', JSON.stringify(committed));
  await gate(ada.accountId).pull();
  await forwardAll(ada);
  expect([await countEvents(ada), await countEvents(ada, 'license.created')]).toEqual([1, 2]);
  expect(await receiver.received()).toHaveLength(2);
});

test('an event whose deliveries could not be stored is forwarded again and delivered', async () => {
  useFakeClock();
  const ada = await signUp();
  const receiver = await newReceiver();
  const { license_key: key } = await createForwardedLicense(ada);
  await addEndpoint(ada, receiver.url);
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  await withoutTable(ada.accountId, 'deliveries', async () => {
    await ada.verify(key);
    // Forwarding fails some time after the response to the verify.
    await waitUntil(() => log.mock.calls.some(([line]) => String(line).includes('relay_failed')));
    expect(await unforwarded(ada.accountId)).toHaveLength(1);
  });
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  await receiver.receives(1);
  expect(await countEvents(ada)).toBe(1);
  log.mockRestore();
});

test('a gate killed during verifies commits the usage and the event of a verify together or not at all', async () => {
  const ada = await signUp();
  const { license_key: key } = await createForwardedLicense(ada);
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
  await forwardAll(ada);
  expect(await countEvents(ada)).toBe(apiUsage);
});

test('an event created before the first webhook has no deliveries', async () => {
  const ada = await signUp();
  await createForwardedLicense(ada);
  const receiver = await newReceiver();
  const endpoint = await addEndpoint(ada, receiver.url);
  expect(await endpoint.deliveries()).toEqual([]);
  expect(await readOutbox(ada.accountId, 'SELECT id FROM deliveries')).toEqual([]);
});
