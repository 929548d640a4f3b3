import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { firstIdAt } from '../../src/shared/text/ids.ts';
import { signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { loseHints, msUntilAlarm, readOutbox, runOutboxAlarm, tamperOutbox } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

beforeEach(() => {
  useFakeClock(NOON);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const countRows = async (accountId: string) => {
  const [counts] = await readOutbox<Record<string, number>>(
    accountId,
    `SELECT (SELECT coalesce(sum(size), 0) FROM event_blocks) AS events,
       (SELECT count(*) FROM deliveries) AS deliveries,
       (SELECT coalesce(sum(json_array_length(attempts)), 0) FROM deliveries) AS attempts,
       (SELECT count(*) FROM hours) AS hours`,
  );
  return { ...counts };
};

test('settled deliveries and their attempts are deleted after 30 days, pending deliveries are kept', async () => {
  const { ada, receiver, endpoint } = await sellerWithWebhook();
  await ada.asSession('POST', `${endpoint.path}/test`);
  await waitUntil(endpoint.deliveries, ([delivery]) => delivery.status === 'delivered');
  loseHints();
  const { body: pending } = await ada.asSession('POST', `${endpoint.path}/test`);
  expect(await countRows(ada.accountId)).toEqual({ events: 2, deliveries: 2, attempts: 1, hours: 0 });

  vi.setSystemTime(NOON + 30 * DAY_MS - 1);
  await runOutboxAlarm(ada.accountId);
  expect(await countRows(ada.accountId)).toMatchObject({ events: 2, deliveries: 2, attempts: 1 });
  vi.setSystemTime(NOON + 31 * DAY_MS);
  await runOutboxAlarm(ada.accountId);
  expect(await countRows(ada.accountId)).toEqual({ events: 1, deliveries: 1, attempts: 0, hours: 0 });
  // Uses the API key because the session has expired by now.
  const log = async () => (await ada.asKey('GET', `${endpoint.path}/deliveries`)).body.data;
  expect(await log()).toMatchObject([{ id: pending.id, status: 'pending' }]);

  // Once it is delivered, the next cleanup deletes it because of its age.
  vi.restoreAllMocks();
  vi.advanceTimersByTime(10_000);
  await runOutboxAlarm(ada.accountId);
  await receiver.receives(2);
  await waitUntil(log, ([delivery]) => delivery.status === 'delivered');
  expect(await msUntilAlarm(ada.accountId)).toBeLessThanOrEqual(DAY_MS);
  // The first attempt in another hour stores the count of the hour before.
  expect(await countRows(ada.accountId)).toMatchObject({ hours: 1 });
  vi.advanceTimersByTime(DAY_MS);
  await runOutboxAlarm(ada.accountId);
  expect(await countRows(ada.accountId)).toEqual({ events: 0, deliveries: 0, attempts: 0, hours: 0 });
});

test('events without a subscriber are deleted after 30 days, and an empty outbox sets no alarm', async () => {
  const ada = await signUp();
  await ada.createLicense();
  await waitUntil(
    () => countRows(ada.accountId),
    ({ events }) => events === 1,
  );
  // Ids created in a burst can be up to a second ahead of the clock.
  vi.setSystemTime(NOON + 30 * DAY_MS + 1_000);
  await runOutboxAlarm(ada.accountId);
  expect(await countRows(ada.accountId)).toMatchObject({ events: 0 });
  vi.advanceTimersByTime(DAY_MS);
  await runOutboxAlarm(ada.accountId);
  expect(await msUntilAlarm(ada.accountId)).toBeNull();
});

test('cleanup scans a long backlog in parts, at most every ten minutes, and deletes settled events behind it', async () => {
  const { ada, endpoint } = await sellerWithWebhook();
  // 2,500 events older than any new id, of which only the last is settled.
  await tamperOutbox(
    ada.accountId,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
     INSERT INTO event_blocks SELECT 'evt_0000' || (10000 + i), 'evt_0000' || (10000 + i), 1,
       'dlv_0000' || (10000 + i), 'dlv_0000' || (10000 + i), '[]' FROM n`,
  );
  await tamperOutbox(
    ada.accountId,
    `INSERT INTO deliveries SELECT ?, first_delivery_id, last_id, last_id,
       iif(last_id = 'evt_000012500', 'delivered', 'pending'), 0, ?, NULL, 0, '[]' FROM event_blocks`,
    endpoint.id,
    NOON + DAY_MS,
  );
  const settle = (eventId: string) =>
    readOutbox(
      ada.accountId,
      `UPDATE deliveries SET status = 'delivered' WHERE event_id = '${eventId}' RETURNING id`,
    );

  // The alarm for the next part is due immediately until the last part is done.
  const parts = [];
  for (const part of [1, 2, 3]) {
    await runOutboxAlarm(ada.accountId);
    const { events } = await countRows(ada.accountId);
    parts.push({ part, events, isNextDueNow: (await msUntilAlarm(ada.accountId))! <= 1 });
  }
  expect(parts).toEqual([
    { part: 1, events: 2_500, isNextDueNow: true },
    { part: 2, events: 2_500, isNextDueNow: true },
    { part: 3, events: 2_499, isNextDueNow: false },
  ]);

  await settle('evt_000010001');
  await runOutboxAlarm(ada.accountId);
  expect(await countRows(ada.accountId)).toMatchObject({ events: 2_499 });
  vi.advanceTimersByTime(10 * 60_000);
  await runOutboxAlarm(ada.accountId);
  expect(await countRows(ada.accountId)).toMatchObject({ events: 2_498, deliveries: 2_498 });
});

test('erased events are forgotten with the events of their time, also if these are too many to be kept for 30 days', async () => {
  const { ada } = await sellerWithWebhook();
  const idAt = (ms: number) => firstIdAt('evt', ms).padEnd(24, 'x');
  await tamperOutbox(
    ada.accountId,
    `INSERT INTO event_blocks (last_id, first_id, size, events) SELECT value, value, 50000, '[]' FROM json_each(?)`,
    JSON.stringify([idAt(NOON - 2 * DAY_MS), idAt(NOON - DAY_MS)]),
  );
  await tamperOutbox(
    ada.accountId,
    'INSERT INTO erased_events SELECT value FROM json_each(?)',
    JSON.stringify([idAt(NOON - 3 * DAY_MS), idAt(NOON)]),
  );
  await runOutboxAlarm(ada.accountId);
  expect(await readOutbox(ada.accountId, 'SELECT id FROM erased_events')).toEqual([{ id: idAt(NOON) }]);
  expect(await countRows(ada.accountId)).toMatchObject({ events: 50_000 });
});

test('of erased events, the newest 50,000 are remembered, also if no other events are kept', async () => {
  const { ada } = await sellerWithWebhook();
  await tamperOutbox(
    ada.accountId,
    `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50001)
     INSERT INTO erased_events SELECT ? || printf('%012d', n) FROM numbers`,
    firstIdAt('evt', NOON).slice(0, 12),
  );
  await runOutboxAlarm(ada.accountId);
  const [erased] = await readOutbox(
    ada.accountId,
    'SELECT count(*) AS count, substr(min(id), -5) AS oldest FROM erased_events',
  );
  expect(erased).toEqual({ count: 50_000, oldest: '00002' });
});
