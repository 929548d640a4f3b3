import { runInDurableObject } from 'cloudflare:test';
import { beforeEach, expect, type Mock, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { MAX_REPLAYED_PER_DAY } from '../../src/shared/rules/webhooks.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import { WebhookOutbox } from '../../src/webhooks/webhook-outbox.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { lastMailTo, mailsTo } from '../support/mails.ts';
import { addEndpoint, killOutbox, outbox, runOutboxAlarm, tamperOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const MINUTE_MS = 60_000;

let ada: Customer;

beforeEach(async () => {
  useFakeClock(NOON);
  ada = await signUp();
});

type Endpoint = Awaited<ReturnType<typeof addEndpoint>>;

const setStatus = (endpoint: Endpoint, status: 'enabled' | 'disabled') =>
  ada.asSession('PATCH', endpoint.path, { status });

const replay = (endpoint: Endpoint, body: object = { since: new Date(NOON - DAY_MS).toISOString() }) =>
  ada.asSession('POST', `${endpoint.path}/replay`, body);

const createLicenses = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    vi.advanceTimersByTime(1_000);
    ids.push((await ada.createLicense()).id);
  }
  return ids;
};

/** The events have reached the outbox once another endpoint has got them. */
const openWithWitness = async (url: string) => {
  const witness = await newReceiver();
  await addEndpoint(ada, witness.url);
  return { witness, endpoint: await addEndpoint(ada, url) };
};

const licensesIn = (received: { body: string }[]): string[] =>
  received.map(({ body }) => JSON.parse(body).license_id);

test('what happens while an endpoint is disabled is sent in order once it asks for it, and only once', async () => {
  const receiver = await newReceiver();
  const { witness, endpoint } = await openWithWitness(receiver.url);
  await setStatus(endpoint, 'disabled');
  const ids = await createLicenses(4);
  await witness.receives(4);
  const missed = await endpoint.deliveries();
  expect(missed.map(({ status, error }: Json) => [status, error])).toEqual(
    Array.from({ length: 4 }, () => ['failed', 'the webhook was disabled']),
  );
  expect(await replay(endpoint)).toMatchObject({
    status: 409,
    body: { error: { code: 'invalid_transition' } },
  });

  await setStatus(endpoint, 'enabled');
  expect(await receiver.received()).toEqual([]);
  expect(await replay(endpoint)).toMatchObject({ status: 202, body: { deliveries: 4 } });
  expect(await replay(endpoint)).toMatchObject({ status: 202, body: { deliveries: 0 } });
  expect(licensesIn(await receiver.receives(4)).toSorted()).toEqual(ids.toSorted());
  await waitUntil(endpoint.deliveries, (all) => all.every(({ status }: Json) => status === 'delivered'));
  expect(await replay(endpoint)).toMatchObject({ body: { deliveries: 0 } });
  expect(await receiver.received()).toHaveLength(4);
});

test('a replay begins at its time, and leaves out events that it doesn’t name', async () => {
  const receiver = await newReceiver();
  const { witness, endpoint } = await openWithWitness(receiver.url);
  await setStatus(endpoint, 'disabled');
  await createLicenses(2);
  const since = new Date(Date.now() + 500).toISOString();
  const [id] = await createLicenses(1);
  await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
  await witness.receives(4);
  await setStatus(endpoint, 'enabled');
  expect((await replay(endpoint, { since, events: ['license.suspended'] })).body).toEqual({ deliveries: 1 });
  const [suspended] = await receiver.receives(1);
  expect(JSON.parse(suspended!.body)).toMatchObject({ event: 'license.suspended', license_id: id });
  expect((await replay(endpoint, { since })).body).toEqual({ deliveries: 1 });
  expect((await replay(endpoint)).body).toEqual({ deliveries: 2 });
});

test('a replay also sends what failed and what disabling has canceled', async () => {
  const receiver = await newReceiver({ status: 500 });
  const endpoint = await addEndpoint(ada, receiver.url);
  await createLicenses(2);
  await receiver.receives(2);
  await setStatus(endpoint, 'disabled');
  await setStatus(endpoint, 'enabled');
  await receiver.answers({ status: 200 });
  expect((await replay(endpoint)).body).toEqual({ deliveries: 2 });
  await waitUntil(endpoint.deliveries, (all) => all.every(({ status }: Json) => status === 'delivered'));
});

test('verifies are events for a disabled endpoint, too, until 14 days have passed', async () => {
  const receiver = await newReceiver();
  const endpoint = await addEndpoint(ada, receiver.url, { events: ['license.verified'] });
  const { license_key } = await ada.createLicense();
  await setStatus(endpoint, 'disabled');
  await ada.verify(license_key);
  await waitUntil(endpoint.deliveries, (all) => all.length === 1);
  await killOutbox(ada.accountId);
  vi.advanceTimersByTime(14 * DAY_MS);
  await outbox(ada.accountId).accept(
    JSON.stringify([newEvent('license.verified', Date.now(), { customer_email: 'grace@example.com' })]),
  );
  expect(await endpoint.deliveries()).toHaveLength(1);
});

test('an endpoint that an earlier release has disabled misses what happens, as it did then', async () => {
  const receiver = await newReceiver();
  const { witness, endpoint } = await openWithWitness(receiver.url);
  await setStatus(endpoint, 'disabled');
  await tamperOutbox(
    ada.accountId,
    "UPDATE endpoints SET value = json_remove(value, '$.disabledAtMs', '$.goneAtMs') WHERE id = ?",
    endpoint.id,
  );
  await createLicenses(1);
  await witness.receives(1);
  expect(await endpoint.deliveries()).toEqual([]);
  await setStatus(endpoint, 'enabled');
  await createLicenses(1);
  await receiver.receives(1);
});

test('an account replays so many deliveries in a day', async () => {
  const receiver = await newReceiver();
  const { witness, endpoint } = await openWithWitness(receiver.url);
  await setStatus(endpoint, 'disabled');
  await createLicenses(1);
  await witness.receives(1);
  await setStatus(endpoint, 'enabled');
  await runInDurableObject(outbox(ada.accountId), (_outbox, { storage }) => {
    storage.kv.put('replayed', { day: '2027-03-10', count: MAX_REPLAYED_PER_DAY });
  });
  const refused = await replay(endpoint);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(12 * 60 * 60);
  vi.setSystemTime(NOON + DAY_MS);
  expect((await replay(endpoint)).body).toEqual({ deliveries: 1 });
});

test('a replay that stops at the limit of the day has an entry, and its repeat on the next day sends the rest', async () => {
  const endpoint = await addEndpoint(ada, (await newReceiver()).url);
  await setStatus(endpoint, 'disabled');
  const missed = () => newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' });
  // A page, which is replayed as a whole, and one more.
  await outbox(ada.accountId).accept(JSON.stringify(Array.from({ length: 501 }, missed)));
  await setStatus(endpoint, 'enabled');
  await runInDurableObject(outbox(ada.accountId), (_outbox, { storage }) => {
    storage.kv.put('replayed', { day: '2027-03-10', count: MAX_REPLAYED_PER_DAY - 1 });
  });
  const since = new Date(NOON - DAY_MS).toISOString();
  const replayOnce = async () => {
    const key = { 'idempotency-key': 'once' };
    const { status, body } = await ada.asSession('POST', `${endpoint.path}/replay`, { since }, key);
    return [status, body.deliveries];
  };
  const entries = async () =>
    (await ada.asSession('GET', '/api/audit-log?action=webhook.replay')).body.data.length;
  expect(await replayOnce()).toEqual([429, undefined]);
  expect(await entries()).toBe(1);
  expect((await replay(endpoint)).status).toBe(429);
  expect(await replayOnce()).toEqual([429, undefined]);
  vi.setSystemTime(NOON + DAY_MS / 2);
  expect(await replayOnce()).toEqual([202, 1]);
  expect(await entries()).toBe(1);
});

test('during an update, a replay is told alike whichever version answers for the webhook', async () => {
  const endpoint = await addEndpoint(ada, (await newReceiver()).url);
  const earlier = vi.spyOn(WebhookOutbox.prototype, 'replay') as unknown as Mock<() => Promise<unknown>>;
  earlier.mockResolvedValueOnce(3).mockResolvedValueOnce(null);
  expect(await replay(endpoint)).toMatchObject({ status: 202, body: { deliveries: 3 } });
  expect((await replay(endpoint)).status).toBe(429);
  earlier.mockRestore();
  const wanted = { sinceMs: NOON - DAY_MS, names: null };
  const ask = () => outbox(ada.accountId).replay(endpoint.id, wanted);
  expect(await ask()).toBe(0);
  await runInDurableObject(outbox(ada.accountId), (_outbox, { storage }) => {
    storage.kv.put('replayed', { day: '2027-03-10', count: MAX_REPLAYED_PER_DAY });
  });
  expect(await ask()).toBeNull();
});

test('an endpoint that answers 410 again after five minutes is disabled, and the owner gets an email', async () => {
  const receiver = await newReceiver({ status: 410 });
  const endpoint = await addEndpoint(ada, receiver.url);
  await createLicenses(1);
  const attempts = (count: number) =>
    waitUntil(endpoint.deliveries, ([first]) => first?.attempts.length === count);
  const [first] = await attempts(1);
  expect(first).toMatchObject({ status: 'pending' });
  expect(Date.parse(first!.next_attempt_at) - Date.now()).toBe(5 * MINUTE_MS);
  expect(await endpoint.read()).toMatchObject({ status: 'enabled' });
  expect(mailsTo(ada.email)).toEqual([]);

  vi.setSystemTime(first!.next_attempt_at);
  await runOutboxAlarm(ada.accountId);
  await attempts(2);
  expect(await endpoint.read()).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
  const { subject, text } = await lastMailTo(ada.email);
  const { host, pathname } = new URL(receiver.url);
  expect(subject).toBe(`Your webhook at ${host} is disabled`);
  expect(text).not.toContain(pathname);

  await createLicenses(1);
  await waitUntil(endpoint.deliveries, (all) => all.length === 2);
  await receiver.answers({ status: 200 });
  await setStatus(endpoint, 'enabled');
  expect((await replay(endpoint)).body).toEqual({ deliveries: 2 });
  await waitUntil(endpoint.deliveries, (all) => all.every(({ status }: Json) => status === 'delivered'));
});

test('an endpoint that answers 410 once, and then is there again, stays enabled', async () => {
  const receiver = await newReceiver({ status: 410 }, { status: 200 });
  const endpoint = await addEndpoint(ada, receiver.url);
  await createLicenses(1);
  const [first] = await waitUntil(endpoint.deliveries, ([shown]) => shown?.attempts.length === 1);
  vi.setSystemTime(first!.next_attempt_at);
  await runOutboxAlarm(ada.accountId);
  await waitUntil(endpoint.deliveries, ([shown]) => shown?.status === 'delivered');
  expect(await endpoint.read()).toMatchObject({ status: 'enabled', failing_since: null });
});
