import { afterEach, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import type { DeliveryJob } from '../../src/webhooks/jobs.ts';
import type { Json } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addEndpoint, consume, loseHints, outbox, runOutboxAlarm, tamperOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

// A receiver that can't keep up gets fewer requests, and loses none.

/** Deliveries to an endpoint that are under way at a time. */
const LANES = 6;
const EVENTS = 30;
const LIMITED = { status: 429, headers: { 'retry-after': '3600' } };

afterEach(() => {
  vi.restoreAllMocks();
});

const acceptEvents = (accountId: string, count: number) => {
  const events = Array.from({ length: count }, () =>
    newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' }),
  );
  return outbox(accountId).accept(JSON.stringify(events));
};

test('a Retry-After holds back everything for the endpoint, also new events, and other endpoints go on', async () => {
  useFakeClock();
  const { stop } = loseHints();
  const { ada, receiver, endpoint } = await sellerWithWebhook({}, LIMITED);
  const other = await newReceiver();
  const { hint: otherHint } = await addEndpoint(ada, other.url);
  await acceptEvents(ada.accountId, EVENTS);
  await consume([endpoint.hint, otherHint]);
  expect(await other.received()).toHaveLength(EVENTS);
  const tried = (await receiver.received()).length;
  expect(tried).toBeGreaterThan(0);
  expect(tried).toBeLessThanOrEqual(LANES);
  const heldUntil = Date.now() + HOUR_MS;
  const isHeld = ({ next_attempt_at: at }: Json) => Math.abs(Date.parse(at) - heldUntil) < 10_000;
  expect((await endpoint.deliveries()).every(isHeld)).toBe(true);
  await ada.asSession('POST', `${endpoint.path}/test`);
  await runOutboxAlarm(ada.accountId);
  await ada.asSession('POST', `${endpoint.path}/deliveries/${(await endpoint.deliveries())[1].id}/resend`);
  await consume(endpoint.hint);
  expect(await receiver.received()).toHaveLength(tried);

  stop();
  await receiver.answers({ status: 200 });
  vi.setSystemTime(heldUntil + 10_000);
  await runOutboxAlarm(ada.accountId);
  const isDelivered = ({ status }: Json) => status === 'delivered';
  const all = await waitUntil(endpoint.deliveries, (deliveries) => deliveries.every(isDelivered));
  expect(all).toHaveLength(EVENTS + 1);
});

test.for([
  { name: 'a new URL', change: async () => ({ url: (await newReceiver()).url }) },
  { name: 'enabling the endpoint', change: async () => ({ status: 'enabled' }) },
])('$name ends what a Retry-After has held back', async ({ change }) => {
  const { stop } = loseHints();
  const { ada, receiver, endpoint } = await sellerWithWebhook({}, LIMITED, { status: 200 });
  for (let tests = 0; tests < 2; tests++) {
    await ada.asSession('POST', `${endpoint.path}/test`);
    await consume(endpoint.hint);
  }
  expect((await endpoint.read()).failing_since).not.toBeNull();
  expect(await receiver.received()).toHaveLength(1);
  stop();
  await ada.asSession('PATCH', endpoint.path, await change());
  const { body: second } = await ada.asSession('POST', `${endpoint.path}/test`);
  await waitUntil(endpoint.deliveries, (deliveries) =>
    deliveries.some(({ id, status }) => id === second.id && status === 'delivered'),
  );
});

/** Returns functions that lease deliveries, and settle them. `claim` returns how many are under way. */
const openLanes = async () => {
  loseHints();
  const { ada, id, path } = await sellerWithWebhook();
  await acceptEvents(ada.accountId, 60);
  const stub = outbox(ada.accountId);
  const underWay: DeliveryJob[] = [];
  const claim = async () => underWay.push(...(await stub.claim(id)));
  let atMs = Date.now();
  const settle = async (ok: boolean) => {
    const attempt = { atMs: ++atMs, error: null, durationMs: 1, response: '', retryAfterMs: null };
    const outcome = { ...attempt, ok, statusCode: ok ? 200 : 500 };
    const next = await stub.settle(id, underWay.shift()!, outcome, true);
    if (next) underWay.push(next);
  };
  return { ada, path, claim, settle };
};

test('a failure halves the deliveries under way, and each success adds one', async () => {
  const { claim, settle } = await openLanes();
  expect(await claim()).toBe(6);
  const counts: number[] = [];
  for (let i = 0; i < 6; i++) {
    await settle(false);
    counts.push(await claim());
  }
  expect(counts).toEqual([5, 4, 3, 2, 1, 1]);
  counts.length = 0;
  for (let i = 0; i < 6; i++) {
    await settle(true);
    counts.push(await claim());
  }
  expect(counts).toEqual([2, 3, 4, 5, 6, 6]);
});

test('a new URL begins with six deliveries, however often the earlier one has failed', async () => {
  const { ada, path, claim, settle } = await openLanes();
  await claim();
  for (let i = 0; i < 6; i++) await settle(false);
  expect(await claim()).toBe(1);
  await settle(true);
  const { url } = await newReceiver();
  expect((await ada.asSession('PATCH', path, { url })).status).toBe(200);
  expect(await claim()).toBe(6);
});

test('an endpoint of an earlier release, which has no such number, begins with six deliveries', async () => {
  const { ada, claim, settle } = await openLanes();
  await tamperOutbox(ada.accountId, `UPDATE lanes SET value = json_remove(value, '$.width')`);
  await tamperOutbox(ada.accountId, `UPDATE endpoints SET value = json_remove(value, '$.heldUntilMs')`);
  expect(await claim()).toBe(6);
  await settle(true);
  expect(await claim()).toBe(6);
});
