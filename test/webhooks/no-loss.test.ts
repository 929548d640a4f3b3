import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { useFakeClock } from '../support/fake-clock.ts';
import {
  consume,
  evictOutbox,
  expireLeases,
  killOutbox,
  loseHints,
  msUntilAlarm,
  outbox,
  runOutboxAlarm,
  withOutboxMethod,
  withoutTable,
} from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** An account with one pending delivery. Queue messages are dropped, so only the test runs the consumer. */
const setUp = async () => {
  loseHints();
  useFakeClock();
  const { ada, receiver, endpoint } = await sellerWithWebhook();
  const license = await ada.createLicense();
  await waitUntil(endpoint.deliveries, ({ length }) => length === 1);
  return { ada, receiver, endpoint, license };
};

const idsOf = (received: { headers: Record<string, string> }[]) =>
  received.map(({ headers }) => headers['webhook-id']);

test('a queue message that arrives more than once sends one request', async () => {
  const { receiver, endpoint } = await setUp();
  const results = await Promise.all([consume(endpoint.hint), consume(endpoint.hint)]);
  expect(results.map(({ explicitAcks }) => explicitAcks.length)).toEqual([1, 1]);
  await consume(endpoint.hint);
  expect(await receiver.received()).toHaveLength(1);
  expect(await endpoint.deliveries()).toMatchObject([
    { status: 'delivered', attempts: [{ status_code: 200 }] },
  ]);
});

test('after a consumer dies before settling, the delivery is sent again with the same webhook-id', async () => {
  const { ada, receiver, endpoint } = await setUp();
  const dying = withOutboxMethod('settle', () => Promise.reject(new Error('The consumer died.')));
  await consume(endpoint.hint, dying);
  expect(await receiver.received()).toHaveLength(1);
  // The dead consumer still holds the lease.
  vi.advanceTimersByTime(20_000);
  await consume(endpoint.hint);
  expect(await receiver.received()).toHaveLength(1);

  expireLeases();
  vi.restoreAllMocks();
  expect(await runOutboxAlarm(ada.accountId)).toBe(true);
  const [first, second] = await receiver.receives(2);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(second!.body).toBe(first!.body);
  await waitUntil(endpoint.deliveries, ([delivery]) => delivery.status === 'delivered');
});

test('a success reported after the lease expired counts and ends the attempts', async () => {
  const { ada, receiver, endpoint } = await setUp();
  let settle = () => {};
  const stalled = withOutboxMethod('settle', async (original, args) => {
    await new Promise<void>((resolve) => {
      settle = resolve;
    });
    return original(...args);
  });
  const late = consume(endpoint.hint, stalled);
  await receiver.receives(1);
  expireLeases();
  const dying = withOutboxMethod('settle', () => Promise.reject(new Error('The consumer died.')));
  await consume(endpoint.hint, dying);
  expect(await receiver.received()).toHaveLength(2);
  settle();
  await late;
  expect((await endpoint.deliveries())[0].status).toBe('delivered');
  vi.advanceTimersByTime(3_600_000);
  await runOutboxAlarm(ada.accountId);
  await consume(endpoint.hint);
  expect(await receiver.received()).toHaveLength(2);
});

test('the alarm sends a hint again when the queue lost or rejected the message', async () => {
  const { ada, receiver, endpoint } = await setUp();
  expect(await msUntilAlarm(ada.accountId)).toBeLessThanOrEqual(5_000);
  vi.restoreAllMocks();
  const { sends } = loseHints();
  sends.mockRejectedValue(new Error('Queue send failed'));
  vi.advanceTimersByTime(5_000);
  expect(await runOutboxAlarm(ada.accountId)).toBe(true);
  expect(sends).toHaveBeenCalledTimes(1);
  expect(await msUntilAlarm(ada.accountId)).toBeLessThanOrEqual(5_000);
  // Requests that create events still succeed while the queue is down.
  expect((await ada.asSession('POST', '/api/v1/licenses/create', {})).status).toBe(201);
  await waitUntil(endpoint.deliveries, ({ length }) => length === 2);
  expect(await receiver.received()).toEqual([]);

  vi.restoreAllMocks();
  vi.advanceTimersByTime(5_000);
  expect(await runOutboxAlarm(ada.accountId)).toBe(true);
  expect(new Set(idsOf(await receiver.receives(2))).size).toBe(2);
});

test('the alarm fires without any request, even after an eviction', async () => {
  const { ada, receiver } = await setUp();
  expect(await msUntilAlarm(ada.accountId)).toBeLessThanOrEqual(5_000);
  vi.restoreAllMocks();
  expect(await receiver.received()).toEqual([]);
  // The alarm of a time to come doesn't run by itself, so it is moved to one by the real clock.
  await runInDurableObject(outbox(ada.accountId), (_outbox, { storage }) =>
    storage.setAlarm(vi.getRealSystemTime() + 500),
  );
  await evictOutbox(ada.accountId);
  await receiver.receives(1);
});

test('an outbox that is evicted or killed at every step sends each event exactly once', async () => {
  const { ada, receiver, endpoint } = await setUp();
  const { accountId } = ada;
  // After the outbox accepted the event.
  await evictOutbox(accountId);
  await killOutbox(accountId);
  // After the claim and the request, before settling.
  const killing = withOutboxMethod('settle', async (original, args) => {
    await killOutbox(accountId);
    return original(...args);
  });
  expect((await consume(endpoint.hint, killing)).explicitAcks).toHaveLength(1);
  expect((await endpoint.deliveries())[0].status).toBe('delivered');
  // After settling.
  await killOutbox(accountId);
  await consume(endpoint.hint);
  vi.advanceTimersByTime(3_600_000);
  await runOutboxAlarm(accountId);
  await consume(endpoint.hint);
  expect(await receiver.received()).toHaveLength(1);
  expect(await endpoint.deliveries()).toMatchObject([
    { status: 'delivered', attempts: [{ status_code: 200 }] },
  ]);
});

test('an outbox killed right after a claim leases the delivery again once the lease expires', async () => {
  const { ada, receiver, endpoint } = await setUp();
  const killed = withOutboxMethod('claim', async (original, args) => {
    await original(...args);
    await killOutbox(ada.accountId);
    throw new Error('The connection to the outbox broke.');
  });
  const { retryMessages } = await consume(endpoint.hint, killed);
  expect(retryMessages).toHaveLength(1);
  expect(await receiver.received()).toEqual([]);
  expireLeases();
  await runOutboxAlarm(ada.accountId);
  await consume(endpoint.hint);
  expect(await receiver.received()).toHaveLength(1);
});

test('a failed alarm sets another alarm, which sends the delivery', async () => {
  const { ada, receiver } = await setUp();
  vi.advanceTimersByTime(5_000);
  await withoutTable(ada.accountId, 'hours', async () => {
    expect(await runOutboxAlarm(ada.accountId)).toBe(true);
  });
  // Another minute for another hint.
  expect(await msUntilAlarm(ada.accountId)).toBe(60_000);
  expect(await receiver.received()).toEqual([]);
  vi.restoreAllMocks();
  vi.advanceTimersByTime(60_000);
  expect(await runOutboxAlarm(ada.accountId)).toBe(true);
  await receiver.receives(1);
});

test('an outbox with nothing to send sleeps until its next cleanup', async () => {
  const { ada, endpoint } = await setUp();
  await consume(endpoint.hint);
  await runOutboxAlarm(ada.accountId);
  expect(await msUntilAlarm(ada.accountId)).toBeGreaterThan(3_600_000);
});

test('a hint that fails is retried by the queue and logged by the dead-letter queue', async () => {
  const { receiver, endpoint } = await setUp();
  const broken = withOutboxMethod('claim', () => Promise.reject(new Error('The outbox is unavailable.')));
  const { explicitAcks, retryMessages } = await consume(endpoint.hint, broken);
  expect([explicitAcks.length, retryMessages.length]).toEqual([0, 1]);
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const deadLetter = await consume(endpoint.hint, broken, 'latchkey-webhooks-dead');
  expect(deadLetter.retryMessages).toEqual([]);
  expect(logged.mock.calls.join()).toContain('hint_dead_lettered');
  await consume(endpoint.hint);
  expect(await receiver.received()).toHaveLength(1);
});
