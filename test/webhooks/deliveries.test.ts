import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { addEndpoint, ring, until } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

// What becomes of a delivery, by what a real receiver answers. `slow.test.ts` has those that hang.

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

let ada: Customer;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  ada = await signUp();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Sends one test event there; `after` waits for so many attempts and gives the delivery as the log shows it. */
const deliver = async (url: string) => {
  const endpoint = await addEndpoint(ada, url);
  const sent = await ada.asSession('POST', `${endpoint.path}/test`);
  expect([sent.status, sent.body.status, sent.body.attempts]).toEqual([200, 'pending', []]);
  const after = async (attempts: number): Promise<Json> => {
    const log = async (): Promise<Json> => (await endpoint.deliveries()).at(-1);
    const delivery = await until(log, (shown) => shown.attempts.length >= attempts);
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

/** Lets the time of the next attempt come. */
const goOn = async (delivery: Json) => {
  vi.setSystemTime(delivery.next_attempt_at);
  expect(await ring(ada.accountId)).toBe(true);
};

test('a 2xx answer is success, and nothing more is sent', async () => {
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
  await ring(ada.accountId);
  expect(await receiver.received()).toHaveLength(1);
});

test('a 500 is tried again five seconds later, with the same id and body, signed anew', async () => {
  const receiver = await newReceiver({ status: 500 }, { status: 200 });
  const { endpoint, after } = await deliver(receiver.url);
  const failed = await after(1);
  expect(failed).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: 500, error: 'the receiver answered 500', response: 'ok' }],
  });
  expectDueInMs(failed, 5 * SECOND_MS);
  expect((await endpoint.look()).failing_since).toBe(new Date(NOON).toISOString());
  // Not a moment before it is due.
  vi.setSystemTime(Date.parse(failed.next_attempt_at) - 1);
  await ring(ada.accountId);
  expect(await receiver.received()).toHaveLength(1);

  await goOn(failed);
  const delivered = await after(2);
  expect(delivered).toMatchObject({ status: 'delivered', next_attempt_at: null });
  expect(delivered.attempts.map((attempt: Json) => attempt.status_code)).toEqual([500, 200]);
  expect(await endpoint.look()).toMatchObject({ status: 'enabled', failing_since: null });
  const [first, second] = await receiver.received();
  expect([second!.body, second!.headers['webhook-id']]).toEqual([first!.body, first!.headers['webhook-id']]);
  expect(second!.headers['webhook-id']).toBe(delivered.event_id);
  const seconds = Number(second!.headers['webhook-timestamp']) - Number(first!.headers['webhook-timestamp']);
  expect(seconds).toBeGreaterThanOrEqual(4);
  for (const { body, headers } of [first!, second!]) new Webhook(endpoint.secret).verify(body, headers);
});

test('a redirect is a failure and nobody goes there', async () => {
  const elsewhere = await newReceiver();
  const receiver = await newReceiver({ status: 302, headers: { location: elsewhere.url } });
  const { after } = await deliver(receiver.url);
  const failed = await after(1);
  expect(failed).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: 302, error: 'redirects are not followed' }],
  });
  expectDueInMs(failed, 5 * SECOND_MS);
  expect(await receiver.received()).toHaveLength(1);
  expect(await elsewhere.received()).toEqual([]);
});

test('a 410 disables the endpoint at once, says so, and gives up what was to come', async () => {
  const receiver = await newReceiver({ status: 500 }, { status: 410 }, { status: 200 });
  const { endpoint, after } = await deliver(receiver.url);
  await after(1);
  await ada.asSession('POST', `${endpoint.path}/test`);
  const disabled = await until(endpoint.look, ({ status }) => status === 'disabled');
  expect(disabled.disabled_reason).toBe('gone');
  const [second, first] = await endpoint.deliveries();
  expect(second).toMatchObject({ status: 'failed', next_attempt_at: null, attempts: [{ status_code: 410 }] });
  expect(first).toMatchObject({ status: 'failed', next_attempt_at: null, attempts: [{ status_code: 500 }] });
  await ada.createLicense();
  vi.advanceTimersByTime(DAY_MS);
  await ring(ada.accountId);
  expect(await receiver.received()).toHaveLength(2);

  await ada.asSession('PATCH', endpoint.path, { status: 'enabled' });
  expect(await endpoint.look()).toMatchObject({
    status: 'enabled',
    disabled_reason: null,
    failing_since: null,
  });
  await ada.asSession('POST', `${endpoint.path}/test`);
  await receiver.receives(3);
});

test('a 429 is left alone for as long as its Retry-After asks', async () => {
  const receiver = await newReceiver({ status: 429, headers: { 'retry-after': '120' } }, { status: 200 });
  const { after } = await deliver(receiver.url);
  const failed = await after(1);
  expect(failed.attempts).toMatchObject([{ status_code: 429 }]);
  expect(dueInMs(failed)).toBe(120 * SECOND_MS);
  await goOn(failed);
  expect((await after(2)).status).toBe('delivered');
});

test('a Retry-After may be a date, is never more than a day and brings nothing forward', async () => {
  const dues: Record<string, number> = {};
  const date = new Date(NOON + 3_600_000).toUTCString();
  for (const retryAfter of [date, '999999', '1', 'soon']) {
    const { url } = await newReceiver({ status: 503, headers: { 'retry-after': retryAfter } });
    const { after } = await deliver(url);
    dues[retryAfter] = dueInMs(await after(1));
  }
  expect(dues[date]).toBe(3_600_000);
  expect(dues['999999']).toBe(DAY_MS);
  for (const asked of ['1', 'soon']) expect(dues[asked]).toBeGreaterThanOrEqual(4 * SECOND_MS);
});

test('a refused connection is a failure like any other', async () => {
  const { after } = await deliver('http://127.0.0.1:9/hooks');
  const failed = await after(1);
  expect(failed).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: null, error: 'the connection failed', response: null }],
  });
  expectDueInMs(failed, 5 * SECOND_MS);
});

test('of a 10 MB answer the first 2 KiB are kept and the rest is not waited for', async () => {
  const receiver = await newReceiver({ status: 200, bodyBytes: 10_000_000 });
  const { after } = await deliver(receiver.url);
  const delivered = await after(1);
  expect(delivered.status).toBe('delivered');
  expect(delivered.attempts[0].response).toBe('x'.repeat(2_048));
  await until(receiver.received, ([posted]) => posted?.cut === true);
});

test('a receiver that answers at one endpoint’s path alone gets there what is due there', async () => {
  const [good, bad] = [await newReceiver(), await newReceiver({ status: 404 })];
  const [one, other] = [await addEndpoint(ada, good.url), await addEndpoint(ada, bad.url)];
  await ada.createLicense();
  const logs = async (): Promise<Json[]> => [(await one.deliveries())[0], (await other.deliveries())[0]];
  await until(logs, (all) => all.every((delivery) => delivery?.attempts.length === 1));
  const [delivered, failed] = await logs();
  expect(failed.attempts).toMatchObject([{ status_code: 404, error: 'the receiver answered 404' }]);
  expect([delivered.status, failed.status, failed.event_id]).toEqual([
    'delivered',
    'pending',
    delivered.event_id,
  ]);
  expectDueInMs(failed, 5 * SECOND_MS);
  await goOn(failed);
  await bad.receives(2);
  expect(await good.received()).toHaveLength(1);
});

test('ten attempts over three days, and then the delivery has failed', async () => {
  const receiver = await newReceiver({ status: 503 });
  const { endpoint, after } = await deliver(receiver.url);
  const hours = (count: number) => count * 3_600 * SECOND_MS;
  const pausesMs = [5 * SECOND_MS, 300 * SECOND_MS, ...[0.5, 2, 5, 10, 14, 20, 24].map(hours)];
  for (const [i, pauseMs] of pausesMs.entries()) {
    const failed = await after(i + 1);
    expect(failed.status).toBe('pending');
    expectDueInMs(failed, pauseMs);
    await goOn(failed);
  }
  expect(await after(10)).toMatchObject({ status: 'failed', next_attempt_at: null });
  const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id']);
  expect([ids.length, new Set(ids).size]).toEqual([10, 1]);
  expect((await endpoint.look()).status).toBe('enabled');
});

test('nothing but failures for five days disables the endpoint, one success in between does not', async () => {
  const failing = await newReceiver({ status: 500 });
  const recovering = await newReceiver({ status: 500 }, { status: 200 }, { status: 500 });
  const one = await deliver(failing.url);
  await one.after(1);
  const other = await deliver(recovering.url);
  await other.after(1);
  vi.setSystemTime(NOON + 5 * DAY_MS - 1_000);
  await ring(ada.accountId);
  await one.after(2);
  expect((await other.after(2)).status).toBe('delivered');
  expect((await one.endpoint.look()).status).toBe('enabled');

  vi.setSystemTime(NOON + 5 * DAY_MS);
  for (const { endpoint } of [one, other]) await ada.asSession('POST', `${endpoint.path}/test`);
  const disabled = await until(one.endpoint.look, ({ status }) => status === 'disabled');
  expect(disabled).toMatchObject({ disabled_reason: 'failing', failing_since: new Date(NOON).toISOString() });
  await recovering.receives(3);
  expect((await other.endpoint.look()).status).toBe('enabled');
  expect((await one.endpoint.deliveries()).map(({ status }) => status)).toEqual(['failed', 'failed']);
});
