import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { gateOf } from '../../src/shared/objects/address.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import { LISTEN_MS } from '../../src/webhooks/listening.ts';
import { type Customer, type Json, outcomeOf, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { anEvent, listen } from '../support/listening.ts';
import { evictOutbox, killOutbox, outbox, readOutbox, runOutboxAlarm } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerOn, sellerWithWebhook } from '../support/worlds.ts';

afterEach(() => {
  vi.useRealTimers();
});

const idsOf = ({ data }: Json): string[] => data.map(({ id }: Json) => id);

test('returns events in the order of arrival, also an event that is older than the cursor', async () => {
  const ada = await signUp();
  await ada.createLicense();
  const start = await listen(ada);
  expect(start.data).toEqual([]);
  const [older, newer] = [anEvent(Date.now() - 60_000), anEvent()];
  await outbox(ada.accountId).accept(JSON.stringify([newer]));
  const first = await listen(ada, `?cursor=${start.next_cursor}`);
  expect(first.data).toEqual([
    {
      id: newer.id,
      event: 'license.created',
      payload: newer.payload,
      created_at: new Date(newer.createdAtMs).toISOString(),
    },
  ]);
  await evictOutbox(ada.accountId);
  await outbox(ada.accountId).accept(JSON.stringify([older, newer]));
  const second = await listen(ada, `?cursor=${first.next_cursor}`);
  expect(idsOf(second)).toEqual([older.id]);
  expect(idsOf(await listen(ada, `?cursor=${start.next_cursor}`))).toEqual([newer.id, older.id]);
  expect(idsOf(await listen(ada, `?cursor=${second.next_cursor}`))).toEqual([]);
});

test('waits for license.verified although no webhook subscribes to it, and leaves webhook.test out', async () => {
  const { ada, id } = await sellerWithWebhook({ events: ['payment.success'] });
  let { next_cursor } = await listen(ada);
  const { license_key } = await ada.createLicense();
  await ada.asSession('POST', `/api/webhooks/${id}/test`);
  await ada.verify(license_key);
  const names: string[] = [];
  while (names.at(-1) !== 'license.verified') {
    const page = await listen(ada, `?cursor=${next_cursor}&wait=25`);
    names.push(...page.data.map(({ event }: Json) => event));
    ({ next_cursor } = page);
  }
  expect(names).toEqual(['license.created', 'license.verified']);
});

test('pages through a burst without leaving an event out', async () => {
  const ada = await signUp();
  let { next_cursor } = await listen(ada);
  const events = Array.from({ length: 230 }, () => anEvent());
  await outbox(ada.accountId).accept(JSON.stringify(events));
  const pages: string[][] = [];
  for (let page = await listen(ada, `?cursor=${next_cursor}`); page.data.length > 0;) {
    pages.push(idsOf(page));
    ({ next_cursor } = page);
    page = await listen(ada, `?cursor=${next_cursor}`);
  }
  expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
  expect(pages.flat()).toEqual(events.map(({ id }) => id));
});

test('a cursor expires once the client stops polling, and the gate stops creating license.verified', async () => {
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  vi.setSystemTime(Date.now() + LISTEN_MS + 1);
  await runOutboxAlarm(ada.accountId);
  await outbox(ada.accountId).accept(JSON.stringify([anEvent()]));
  const { status, body } = await ada.asKey('GET', `/api/events?cursor=${next_cursor}`);
  expect([status, body.error.details[0].path]).toEqual([400, 'cursor']);
  expect(await readOutbox(ada.accountId, 'SELECT * FROM arrivals')).toEqual([]);
  const wantsVerified = await runInDurableObject(gateOf(env, ada.accountId), (_gate, { storage }) =>
    storage.kv.get('wants_verified'),
  );
  expect(wantsVerified).toBe(false);
});

/** Lets no wait end because its time is over. */
const stopTimers = () => useFakeClock(Date.now(), ['setTimeout', 'clearTimeout']);

/** Waits until this many clients wait at the outbox, without a call that keeps it awake. */
const waitingClients = ({ accountId }: Customer, count: number) =>
  waitUntil(
    () => runInDurableObject(outbox(accountId), (_outbox, state) => state.getWebSockets().length),
    (waiting) => waiting === count,
  );

test('the outbox can hibernate while a client waits, and the next event wakes the client', async () => {
  stopTimers();
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  const poll = listen(ada, `?cursor=${next_cursor}&wait=25`);
  await waitingClients(ada, 1);
  await evictOutbox(ada.accountId);
  const event = anEvent();
  await outbox(ada.accountId).accept(JSON.stringify([event]));
  expect(idsOf(await poll)).toEqual([event.id]);
});

test('a client whose wait can’t begin is answered with what there is', async () => {
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  const event = anEvent();
  await runInDurableObject(outbox(ada.accountId), async (instance) => {
    vi.spyOn(instance, 'fetch').mockImplementationOnce(() => {
      throw new Error('killed by a test');
    });
  });
  expect(idsOf(await listen(ada, `?cursor=${next_cursor}&wait=25`))).toEqual([]);
  await outbox(ada.accountId).accept(JSON.stringify([event]));
  expect(idsOf(await listen(ada, `?cursor=${next_cursor}`))).toEqual([event.id]);
});

test('a client that waits gets every event of a burst, and is answered when the outbox restarts', async () => {
  stopTimers();
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  const poll = () => listen(ada, `?cursor=${next_cursor}&wait=25`);
  const [first, second] = [poll(), poll()];
  await waitingClients(ada, 2);
  await killOutbox(ada.accountId);
  expect([idsOf(await first), idsOf(await second)]).toEqual([[], []]);
  const third = poll();
  await waitingClients(ada, 1);
  const events = Array.from({ length: 100 }, () => anEvent());
  await outbox(ada.accountId).accept(JSON.stringify(events));
  expect(idsOf(await third)).toEqual(events.map(({ id }) => id));
});

test('a client that waits is answered without an event once its time is over, and an event that came before at once', async () => {
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  const startedMs = performance.now();
  expect((await listen(ada, `?cursor=${next_cursor}&wait=1`)).data).toEqual([]);
  expect(performance.now() - startedMs).toBeGreaterThan(900);
  const event = anEvent();
  await outbox(ada.accountId).accept(JSON.stringify([event]));
  expect(idsOf(await listen(ada, `?cursor=${next_cursor}&wait=25`))).toEqual([event.id]);
  const expired = await ada.asKey('GET', '/api/events?cursor=999&wait=25');
  expect([expired.status, expired.body.error.details[0].path]).toEqual([400, 'cursor']);
});

test.for([
  ['free', 2],
  ['pro', 10],
  ['scale', 50],
] as const)(
  'on %s, %d clients of an account may wait at a time, and a lost one leaves its place',
  async ([plan, limit]) => {
    stopTimers();
    const ada = await sellerOn(plan);
    const { next_cursor } = await listen(ada);
    const poll = () => ada.asKey('GET', `/api/events?cursor=${next_cursor}&wait=25`);
    const polls = Array.from({ length: limit }, poll);
    await waitingClients(ada, limit);
    const refused = await poll();
    expect([outcomeOf(refused), refused.body.error.details[0].path]).toEqual([
      '403 limit_reached',
      'listeners',
    ]);
    vi.setSystemTime(Date.now() + 30_000);
    polls.push(poll());
    await waitingClients(ada, limit + 1);
    const event = anEvent();
    await outbox(ada.accountId).accept(JSON.stringify([event]));
    for (const { body } of await Promise.all(polls)) expect(idsOf(body)).toEqual([event.id]);
  },
);

test('ten calls may wait by session, one for each tab, take no place of a program, and the next one ends the oldest wait', async () => {
  stopTimers();
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  const path = `/api/events?cursor=${next_cursor}&wait=25`;
  const oldest = ada.asSession('GET', path);
  await waitingClients(ada, 1);
  vi.setSystemTime(Date.now() + 1_000);
  const polls = Array.from({ length: 9 }, () => ada.asSession('GET', path));
  await waitingClients(ada, 10);
  polls.push(ada.asSession('GET', path));
  expect((await oldest).body).toEqual({ data: [], next_cursor });
  await waitingClients(ada, 10);
  polls.push(ada.asKey('GET', path));
  await waitingClients(ada, 11);
  const event = anEvent();
  await outbox(ada.accountId).accept(JSON.stringify([event]));
  for (const { body } of await Promise.all(polls)) expect(idsOf(body)).toEqual([event.id]);
});

const verifiedEvent = () => newEvent('license.verified', Date.now(), { customer_email: 'grace@example.com' });

test('a client without license.verified isn’t woken by it, and lets the gate create none', async () => {
  stopTimers();
  const ada = await signUp();
  const { next_cursor } = await listen(ada, '?verified=false');
  const { license_key } = await ada.createLicense();
  await ada.verify(license_key);
  const wantsVerified = () =>
    runInDurableObject(gateOf(env, ada.accountId), (_gate, { storage }) => storage.kv.get('wants_verified'));
  expect(await wantsVerified()).not.toBe(true);
  const page = await listen(ada, `?cursor=${next_cursor}&wait=25&verified=false`);
  expect(page.data.map(({ event }: Json) => event)).toEqual(['license.created']);

  // A webhook may subscribe to them.
  const poll = listen(ada, `?cursor=${page.next_cursor}&wait=25&verified=false`);
  await waitingClients(ada, 1);
  await outbox(ada.accountId).accept(JSON.stringify([verifiedEvent()]));
  expect(await readOutbox(ada.accountId, 'SELECT number FROM arrivals')).toHaveLength(1);
  const event = anEvent();
  await outbox(ada.accountId).accept(JSON.stringify([event, verifiedEvent()]));
  expect(idsOf(await poll)).toEqual([event.id]);

  const other = await listen(ada);
  expect(await wantsVerified()).toBe(true);
  const verified = verifiedEvent();
  await outbox(ada.accountId).accept(JSON.stringify([verified]));
  expect(idsOf(await listen(ada, `?cursor=${other.next_cursor}`))).toEqual([verified.id]);
  expect(idsOf(await listen(ada, `?cursor=${page.next_cursor}&verified=false`))).toEqual([event.id]);
});
