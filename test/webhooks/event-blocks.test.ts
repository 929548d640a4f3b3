import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import type { Json } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import {
  loseHints,
  outbox,
  readEvents,
  readOutbox,
  runOutboxAlarm,
  tamperOutbox,
} from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

// The outbox stores events in blocks, whose ranges of ids can overlap.

afterEach(() => {
  vi.restoreAllMocks();
});

const idOf = (number: number) => `evt_${String(number).padStart(20, '0')}`;

const eventsOf = (numbers: number[]) =>
  JSON.stringify(
    numbers.map((number) => ({
      id: idOf(number),
      name: 'license.created',
      payload: JSON.stringify({ event: 'license.created', n: number }),
      createdAtMs: 1_700_000_000_000 + number,
    })),
  );

const setUp = async () => {
  loseHints();
  const { ada, endpoint } = await sellerWithWebhook();
  const accept = (numbers: number[]) => outbox(ada.accountId).accept(eventsOf(numbers));
  return { ada, endpoint, accept };
};

test('an event that arrives again, in whichever order and company, is stored and delivered once', async () => {
  const { ada, endpoint, accept } = await setUp();
  await accept([2, 10, 20]);
  await accept([5, 15]);
  await accept([30, 20, 15, 12, 5, 2, 1, 30]);
  await accept([15, 12]);
  const ids = [1, 2, 5, 10, 12, 15, 20, 30].map(idOf);
  expect((await readEvents(ada.accountId)).map(({ id }) => id).toSorted()).toEqual(ids);
  const deliveries = await endpoint.deliveries();
  expect(deliveries.map((delivery: Json): string => delivery.event_id).toSorted()).toEqual(ids);
  for (const { event_id: id, payload } of deliveries) expect(idOf(JSON.parse(payload).n)).toBe(id);
  const { recent_events: recent } = (await ada.asSession('GET', '/api/dashboard')).body;
  expect(recent.map(({ id }: Json) => id)).toEqual(ids.toReversed());
});

test('many events of one call are stored in blocks of 50', async () => {
  const { ada, endpoint, accept } = await setUp();
  await accept(Array.from({ length: 120 }, (_, number) => number));
  expect(await readOutbox(ada.accountId, 'SELECT size FROM event_blocks')).toEqual(
    [50, 50, 20].map((size) => ({ size })),
  );
  const path = `${endpoint.path}/deliveries?limit=100`;
  const { data } = (await ada.asSession('GET', path)).body;
  expect(data.map(({ event_id: id }: Json) => id)).toEqual(
    Array.from({ length: 100 }, (_, index) => idOf(119 - index)),
  );
});

test('deliveries that get lower ids than before, after the clock was set back, are claimed too', async () => {
  const { ada, endpoint, accept } = await setUp();
  await accept([1]);
  const { stub, id } = { stub: outbox(ada.accountId), id: endpoint.id };
  expect(await stub.claim(id)).toHaveLength(1);
  // As if a machine with a faster clock had claimed until now.
  await tamperOutbox(
    ada.accountId,
    `INSERT OR REPLACE INTO lanes VALUES (?, json_object('takenThrough', 'dlv_zzz'))`,
    id,
  );
  await accept([2, 3]);
  expect((await stub.claim(id)).map(({ eventId }) => eventId)).toEqual([2, 3].map(idOf));
  expect(await stub.claim(id)).toEqual([]);
});

/** Events of licenses with these ids, in the order of the events' ids. */
const eventsOfLicenses = (licenseIds: string[]) =>
  licenseIds.map((licenseId) =>
    newEvent('license.created', Date.now(), { license_id: licenseId, customer_email: 'grace@example.com' }),
  );

const DELETED = { licenseIds: ['lic_deleted'], emails: [] };

test.for([
  { name: 'the first of its block', licenseIds: ['lic_deleted', 'lic_stays'] },
  { name: 'the last of its block', licenseIds: ['lic_stays', 'lic_deleted'] },
  { name: 'alone in its block', licenseIds: ['lic_deleted'] },
])(
  'an erased event that arrives again, $name, is ignored, and later events are taken',
  async ({ licenseIds }) => {
    const { ada, endpoint } = await setUp();
    const accept = (events: object[]) => outbox(ada.accountId).accept(JSON.stringify(events));
    const events = eventsOfLicenses(licenseIds);
    await accept(events);
    expect((await outbox(ada.accountId).eraseEvents(DELETED, '')).events).toBe(1);
    const later = eventsOfLicenses(['lic_later']);
    await accept([...events, ...later]);
    await accept(events);
    const kept = licenseIds.includes('lic_stays') ? ['lic_stays', 'lic_later'] : ['lic_later'];
    const licensesIn = (all: Json[]) => all.map(({ payload }) => JSON.parse(payload).license_id);
    expect(licensesIn((await endpoint.deliveries()).toReversed())).toEqual(kept);
    expect(await readEvents(ada.accountId)).toHaveLength(kept.length);
  },
);

test('an outbox in which an earlier release erased the last event of a block goes on when that event arrives again', async () => {
  const { ada, endpoint } = await setUp();
  const events = eventsOfLicenses(['lic_stays', 'lic_deleted']);
  const accept = () => outbox(ada.accountId).accept(JSON.stringify(events));
  await accept();
  await outbox(ada.accountId).eraseEvents(DELETED, '');
  await tamperOutbox(
    ada.accountId,
    `DROP TABLE erased_events; DROP TABLE made; ALTER TABLE arrivals DROP COLUMN is_for_all;
     UPDATE storage_version SET version = 4`,
  );
  await accept();
  await accept();
  expect(await endpoint.deliveries()).toHaveLength(1);
});

test('the ids of erased events are forgotten with the events of their time', async () => {
  useFakeClock();
  const { ada } = await setUp();
  const events = eventsOfLicenses(['lic_deleted']);
  await outbox(ada.accountId).accept(JSON.stringify(events));
  await outbox(ada.accountId).eraseEvents(DELETED, '');
  const readErased = () => readOutbox(ada.accountId, 'SELECT id FROM erased_events');
  expect(await readErased()).toEqual([{ id: events[0]!.id }]);
  vi.setSystemTime(Date.now() + 31 * DAY_MS);
  await runOutboxAlarm(ada.accountId);
  expect(await readErased()).toEqual([]);
});
