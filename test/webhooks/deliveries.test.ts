import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addEndpoint, runOutboxAlarm } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';

// Deliveries to a real HTTP receiver. `slow.test.ts` covers receivers that respond late or never.

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const SECOND_MS = 1_000;

let ada: Customer;

beforeEach(async () => {
  useFakeClock(NOON);
  ada = await signUp();
});

/** Sends a test event to `url`. `after` waits for that many attempts and returns the delivery from the log. */
const deliver = async (url: string) => {
  const endpoint = await addEndpoint(ada, url);
  const sent = await ada.asSession('POST', `${endpoint.path}/test`);
  expect([sent.status, sent.body.status, sent.body.attempts]).toEqual([200, 'pending', []]);
  const after = async (attempts: number): Promise<Json> => {
    const log = async (): Promise<Json> => (await endpoint.deliveries()).at(-1);
    const delivery = await waitUntil(log, (shown) => shown.attempts.length >= attempts);
    expect(delivery.attempts).toHaveLength(attempts);
    const { id, payload } = sent.body;
    expect(delivery).toMatchObject({
      id,
      payload,
      event: 'webhook.test',
      created_at: new Date(NOON).toISOString(),
    });
    return delivery;
  };
  return { endpoint, after };
};

const dueInMs = ({ next_attempt_at: at }: Json) => Date.parse(at) - Date.now();

const expectDueInMs = (delivery: Json, pauseMs: number) => {
  expect(dueInMs(delivery)).toBeGreaterThanOrEqual(pauseMs * 0.8);
  expect(dueInMs(delivery)).toBeLessThanOrEqual(pauseMs * 1.2);
};

/** Moves the clock to the next attempt and runs the alarm. */
const runNextAttempt = async (delivery: Json) => {
  vi.setSystemTime(delivery.next_attempt_at);
  expect(await runOutboxAlarm(ada.accountId)).toBe(true);
};

test('a 2xx response marks the delivery as delivered and stops further attempts', async () => {
  const receiver = await newReceiver({ status: 204 });
  const { endpoint, after } = await deliver(receiver.url);
  expect(await after(1)).toMatchObject({
    status: 'delivered',
    next_attempt_at: null,
    attempts: [{ time: new Date(NOON).toISOString(), status_code: 204, error: null, response: '' }],
  });
  const [posted] = await receiver.received();
  expect(posted!.method).toBe('POST');
  const body = new Webhook(endpoint.secret).verify(posted!.body, posted!.headers);
  expect(body).toEqual({
    event: 'webhook.test',
    timestamp: new Date(NOON).toISOString(),
    customer_email: ada.email,
  });
  vi.advanceTimersByTime(DAY_MS);
  await runOutboxAlarm(ada.accountId);
  expect(await receiver.received()).toHaveLength(1);
});

test('a 500 response is retried after five seconds with the same id and body and a new signature', async () => {
  const receiver = await newReceiver({ status: 500 }, { status: 200 });
  const { endpoint, after } = await deliver(receiver.url);
  const failed = await after(1);
  expect(failed).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: 500, error: 'the receiver responded with status 500', response: 'ok' }],
  });
  expectDueInMs(failed, 5 * SECOND_MS);
  expect((await endpoint.read()).failing_since).toBe(new Date(NOON).toISOString());
  // One millisecond before the retry is due, the alarm sends nothing.
  vi.setSystemTime(Date.parse(failed.next_attempt_at) - 1);
  await runOutboxAlarm(ada.accountId);
  expect(await receiver.received()).toHaveLength(1);

  await runNextAttempt(failed);
  const delivered = await after(2);
  expect(delivered).toMatchObject({ status: 'delivered', next_attempt_at: null });
  expect(delivered.attempts.map((attempt: Json) => attempt.status_code)).toEqual([500, 200]);
  expect(await endpoint.read()).toMatchObject({ status: 'enabled', failing_since: null });
  const [first, second] = await receiver.received();
  expect([second!.body, second!.headers['webhook-id']]).toEqual([first!.body, first!.headers['webhook-id']]);
  expect(second!.headers['webhook-id']).toBe(delivered.event_id);
  const seconds = Number(second!.headers['webhook-timestamp']) - Number(first!.headers['webhook-timestamp']);
  expect(seconds).toBeGreaterThanOrEqual(4);
  for (const { body, headers } of [first!, second!]) new Webhook(endpoint.secret).verify(body, headers);
});

test('a redirect counts as a failure and is not followed', async () => {
  const target = await newReceiver();
  const receiver = await newReceiver({ status: 302, headers: { location: target.url } });
  const { after } = await deliver(receiver.url);
  const failed = await after(1);
  expect(failed).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: 302, error: 'redirects are not followed' }],
  });
  expectDueInMs(failed, 5 * SECOND_MS);
  expect(await receiver.received()).toHaveLength(1);
  expect(await target.received()).toEqual([]);
});

test('a second 410 response disables the endpoint and cancels its pending deliveries', async () => {
  const receiver = await newReceiver({ status: 410 }, { status: 410 }, { status: 200 });
  const { endpoint, after } = await deliver(receiver.url);
  await runNextAttempt(await after(1));
  const disabled = await waitUntil(endpoint.read, ({ status }) => status === 'disabled');
  expect(disabled.disabled_reason).toBe('gone');
  expect(await after(2)).toMatchObject({ status: 'failed', next_attempt_at: null });
  await ada.createLicense();
  vi.advanceTimersByTime(DAY_MS);
  await runOutboxAlarm(ada.accountId);
  expect(await receiver.received()).toHaveLength(2);

  await ada.asKey('PATCH', endpoint.path, { status: 'enabled' });
  expect(await endpoint.read()).toMatchObject({
    status: 'enabled',
    disabled_reason: null,
    failing_since: null,
  });
  await ada.asSession('POST', `${endpoint.path}/test`);
  await receiver.receives(3);
});

describe('a Retry-After header', () => {
  test('on a 429 response sets the time of the next attempt', async () => {
    const receiver = await newReceiver({ status: 429, headers: { 'retry-after': '120' } }, { status: 200 });
    const { after } = await deliver(receiver.url);
    const failed = await after(1);
    expect(failed.attempts).toMatchObject([{ status_code: 429 }]);
    expect(dueInMs(failed)).toBe(120 * SECOND_MS);
    await runNextAttempt(failed);
    expect((await after(2)).status).toBe('delivered');
  });

  const dueAfterRetryAfter = async (retryAfter: string) => {
    const { url } = await newReceiver({ status: 503, headers: { 'retry-after': retryAfter } });
    const { after } = await deliver(url);
    return dueInMs(await after(1));
  };

  test.for([
    { name: 'can be a date', retryAfter: new Date(NOON + HOUR_MS).toUTCString(), dueMs: HOUR_MS },
    { name: 'is capped at one day', retryAfter: '999999', dueMs: DAY_MS },
  ])('$name', async ({ retryAfter, dueMs }) => {
    expect(await dueAfterRetryAfter(retryAfter)).toBe(dueMs);
  });

  test.for([
    { name: 'is ignored when shorter than the delay', retryAfter: '1' },
    { name: 'is ignored when it does not parse', retryAfter: 'soon' },
  ])('$name', async ({ retryAfter }) => {
    expect(await dueAfterRetryAfter(retryAfter)).toBeGreaterThanOrEqual(4 * SECOND_MS);
  });
});

test('a refused connection counts as a failure and is retried', async () => {
  const { after } = await deliver('http://127.0.0.1:9/hooks');
  const failed = await after(1);
  expect(failed).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: null, error: 'the connection failed', response: null }],
  });
  expectDueInMs(failed, 5 * SECOND_MS);
});

test('only the first 2 KiB of an endless response are read and stored', async () => {
  const receiver = await newReceiver({ status: 200, endless: true });
  const { after } = await deliver(receiver.url);
  const delivered = await after(1);
  expect(delivered.status).toBe('delivered');
  expect(delivered.attempts[0].response).toBe('x'.repeat(2_048));
  await waitUntil(receiver.received, ([posted]) => posted?.cut === true);
});

test('an event that one endpoint accepts is retried only at the endpoint that rejected it', async () => {
  const [good, bad] = [await newReceiver(), await newReceiver({ status: 404 })];
  const [accepting, rejecting] = [await addEndpoint(ada, good.url), await addEndpoint(ada, bad.url)];
  await ada.createLicense();
  const logs = (): Promise<Json[]> =>
    Promise.all([accepting, rejecting].map(async (endpoint) => (await endpoint.deliveries())[0]));
  await waitUntil(logs, (all) => all.every((delivery) => delivery?.attempts.length === 1));
  const [delivered, failed] = await logs();
  expect(failed.attempts).toMatchObject([
    { status_code: 404, error: 'the receiver responded with status 404' },
  ]);
  expect([delivered.status, failed.status]).toEqual(['delivered', 'pending']);
  expect(failed.event_id).toBe(delivered.event_id);
  expectDueInMs(failed, 5 * SECOND_MS);
  await runNextAttempt(failed);
  await bad.receives(2);
  expect(await good.received()).toHaveLength(1);
});

test('a delivery fails permanently after ten attempts over three days', async () => {
  const receiver = await newReceiver({ status: 503 });
  const { endpoint, after } = await deliver(receiver.url);
  const pausesMs = [5 * SECOND_MS, 300 * SECOND_MS, ...[0.5, 2, 5, 10, 14, 20, 24].map((h) => h * HOUR_MS)];
  for (const [i, pauseMs] of pausesMs.entries()) {
    const failed = await after(i + 1);
    expect(failed.status).toBe('pending');
    expectDueInMs(failed, pauseMs);
    await runNextAttempt(failed);
  }
  expect(await after(10)).toMatchObject({ status: 'failed', next_attempt_at: null });
  const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id']);
  expect([ids.length, new Set(ids).size]).toEqual([10, 1]);
  expect((await endpoint.read()).status).toBe('enabled');
});

test('five days of uninterrupted failures disable an endpoint, but not if one attempt succeeded', async () => {
  const failingReceiver = await newReceiver({ status: 500 });
  const recoveringReceiver = await newReceiver({ status: 500 }, { status: 200 }, { status: 500 });
  const failing = await deliver(failingReceiver.url);
  await failing.after(1);
  const recovering = await deliver(recoveringReceiver.url);
  await recovering.after(1);
  vi.setSystemTime(NOON + 5 * DAY_MS - 1_000);
  await runOutboxAlarm(ada.accountId);
  await failing.after(2);
  expect((await recovering.after(2)).status).toBe('delivered');
  expect((await failing.endpoint.read()).status).toBe('enabled');

  vi.setSystemTime(NOON + 5 * DAY_MS);
  for (const { endpoint } of [failing, recovering]) await ada.asSession('POST', `${endpoint.path}/test`);
  const disabled = await waitUntil(failing.endpoint.read, ({ status }) => status === 'disabled');
  expect(disabled).toMatchObject({ disabled_reason: 'failing', failing_since: new Date(NOON).toISOString() });
  await recoveringReceiver.receives(3);
  expect((await recovering.endpoint.read()).status).toBe('enabled');
  const statuses = (await failing.endpoint.deliveries()).map(({ status }) => status);
  expect(statuses).toEqual(['failed', 'failed']);
});
