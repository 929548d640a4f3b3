import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { newEvent, type WebhookEvent } from '../../src/shared/text/events.ts';
import { LISTEN_MS } from '../../src/webhooks/listening.ts';
import { type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { anEvent, listen } from '../support/listening.ts';
import { killOutbox, outbox, runOutboxAlarm, tamperOutbox } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';

// What a cursor leads to.

afterEach(() => {
  vi.useRealTimers();
});

test('a cursor stays expired although the outbox could not store that nobody listens any more', async () => {
  const ada = await signUp();
  let { next_cursor } = await listen(ada);
  const accept = () => outbox(ada.accountId).accept(JSON.stringify([anEvent()]));
  for (let i = 0; i < 3; i++) {
    await accept();
    ({ next_cursor } = await listen(ada, `?cursor=${next_cursor}`));
  }
  vi.setSystemTime(Date.now() + LISTEN_MS + 1);
  const put = await runInDurableObject(outbox(ada.accountId), (_outbox, { storage }) =>
    vi.spyOn(Object.getPrototypeOf(storage.kv) as SyncKvStorage, 'put').mockImplementation(() => {
      throw new Error('full');
    }),
  );
  await runOutboxAlarm(ada.accountId).catch(() => {});
  put.mockRestore();
  await killOutbox(ada.accountId);
  await listen(ada);
  for (let i = 0; i < 5; i++) await accept();
  expect((await ada.asKey('GET', `/api/events?cursor=${next_cursor}`)).status).toBe(400);
});

test('a cursor from before nobody listened stays expired when another client begins to listen', async () => {
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  vi.setSystemTime(Date.now() + LISTEN_MS + 1);
  await runOutboxAlarm(ada.accountId);
  await outbox(ada.accountId).accept(JSON.stringify([anEvent()]));
  await listen(ada, '?verified=false');
  for (const query of ['', '&verified=false'])
    expect((await ada.asKey('GET', `/api/events?cursor=${next_cursor}${query}`)).status).toBe(400);
  // Nor does one without license.verified serve a client that wants it, for whom none was kept.
  const { next_cursor: without } = await listen(ada, '?verified=false');
  expect((await ada.asKey('GET', `/api/events?cursor=${without}`)).status).toBe(400);
});

test('a page has as many whole blocks of events as make at most 100 events', async () => {
  const ada = await signUp();
  let { next_cursor } = await listen(ada);
  const sent: string[] = [];
  const accept = async (count: number) => {
    const events = Array.from({ length: count }, () => anEvent());
    sent.push(...events.map(({ id }) => id));
    await outbox(ada.accountId).accept(JSON.stringify(events));
  };
  for (let i = 0; i < 24; i++) await accept(5);
  for (const count of [50, 45, 50]) await accept(count);
  const pages: string[][] = [];
  for (let page = await listen(ada, `?cursor=${next_cursor}`); page.data.length > 0;) {
    pages.push(page.data.map(({ id }: Json) => id));
    ({ next_cursor } = page);
    page = await listen(ada, `?cursor=${next_cursor}`);
  }
  expect(pages.map(({ length }) => length)).toEqual([100, 70, 95]);
  expect(pages.flat()).toEqual(sent);
});

test('a cursor that more blocks came after than are kept has expired, and leaves no event out', async () => {
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  for (let i = 0; i < 2; i++) await outbox(ada.accountId).accept(JSON.stringify([anEvent()]));
  const last = '(SELECT max(number) FROM arrivals)';
  await tamperOutbox(ada.accountId, `UPDATE arrivals SET number = number + 10000 WHERE number = ${last}`);
  expect((await ada.asKey('GET', `/api/events?cursor=${next_cursor}`)).status).toBe(400);
});

const verifiedEvent = () => newEvent('license.verified', Date.now(), { customer_email: 'grace@example.com' });

test('a client without license.verified is told at once of what is behind many of them', async () => {
  const ada = await signUp();
  await listen(ada);
  const { next_cursor } = await listen(ada, '?verified=false');
  for (let i = 0; i < 3; i++) {
    const verified = Array.from({ length: 50 }, verifiedEvent);
    await outbox(ada.accountId).accept(JSON.stringify(verified));
  }
  const event = anEvent();
  await outbox(ada.accountId).accept(JSON.stringify([event]));
  const page = await listen(ada, `?cursor=${next_cursor}&verified=false`);
  expect(page.data.map(({ id }: Json) => id)).toEqual([event.id]);
});

test('a client without license.verified waits although the others have some that it hasn’t read', async () => {
  useFakeClock(Date.now(), ['setTimeout', 'clearTimeout']);
  const ada = await signUp();
  await listen(ada);
  const { next_cursor } = await listen(ada, '?verified=false');
  const accept = (event: WebhookEvent) => outbox(ada.accountId).accept(JSON.stringify([event]));
  await accept(verifiedEvent());
  const poll = listen(ada, `?cursor=${next_cursor}&wait=25&verified=false`);
  await waitUntil(
    () => runInDurableObject(outbox(ada.accountId), (_outbox, state) => state.getWebSockets().length),
    (waiting) => waiting === 1,
  );
  const event = anEvent();
  await accept(event);
  expect((await poll).data.map(({ id }: Json) => id)).toEqual([event.id]);
});
