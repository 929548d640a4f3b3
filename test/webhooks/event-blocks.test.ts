import { afterEach, expect, test, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { loseHints, outbox, readEvents, readOutbox } from '../support/outbox.ts';
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
  await readOutbox(ada.accountId, `UPDATE lanes SET value = json_set(value, '$.takenThrough', 'dlv_zzz')`);
  await accept([2, 3]);
  expect((await stub.claim(id)).map(({ eventId }) => eventId)).toEqual([2, 3].map(idOf));
  expect(await stub.claim(id)).toEqual([]);
});
