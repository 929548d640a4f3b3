import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import type { DeliveryJob } from '../../src/webhooks/jobs.ts';
import { LEASE_MS } from '../../src/webhooks/lanes.ts';
import type { DeliveryRecord } from '../../src/webhooks/outbox-tables.ts';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import {
  addEndpoint,
  killOutbox,
  loseHints,
  outbox,
  readOutbox,
  tamperOutbox,
  withFullTable,
} from '../support/outbox.ts';

// The outbox restarts and loses what it has only in memory: who sends which delivery, and its latest counts.

const LANES = 6;

let ada: Customer;
let id: string;

beforeEach(async () => {
  loseHints();
  useFakeClock();
  ada = await signUp();
  ({ id } = await addEndpoint(ada, 'https://example.com/hook'));
});

afterEach(() => {
  vi.restoreAllMocks();
});

const stub = () => outbox(ada.accountId);
const restart = () => killOutbox(ada.accountId);
const claim = async (): Promise<DeliveryJob[]> => stub().claim(id);
const idsOf = (jobs: DeliveryJob[]) => jobs.map(({ deliveryId }) => deliveryId);

const accept = (count: number) =>
  stub().accept(
    JSON.stringify(
      Array.from({ length: count }, () =>
        newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' }),
      ),
    ),
  );

const settle = async (
  job: DeliveryJob,
  { ok = true, wantsMore = false } = {},
): Promise<DeliveryJob | null> => {
  vi.advanceTimersByTime(1);
  const attempt = { atMs: Date.now(), error: null, durationMs: 1, response: '', retryAfterMs: null };
  return stub().settle(id, job, { ...attempt, ok, statusCode: ok ? 200 : 500 }, wantsMore);
};

const read = async ({ deliveryId }: DeliveryJob): Promise<DeliveryRecord> => {
  const all = (await stub().listDeliveries(id, 100, null)) ?? [];
  return all.find((delivery) => delivery.id === deliveryId)!;
};

const counts = async () => {
  const { delivered24h, failed24h } = await stub().summary();
  return [delivered24h, failed24h];
};

/** Delivers everything that is due, and returns the ids in order. */
const deliverAll = async (): Promise<string[]> => {
  const sent: string[] = [];
  const underWay = await claim();
  for (let job = underWay.shift(); job; job = underWay.shift()) {
    sent.push(job.deliveryId);
    const next = await settle(job, { wantsMore: true });
    if (next) underWay.push(next);
  }
  return sent;
};

test('a delivery that was settled is neither sent nor counted again after a restart, in whatever order they were', async () => {
  await accept(1);
  await deliverAll();
  await accept(10);
  const jobs = await claim();
  expect(jobs).toHaveLength(LANES);
  const settled = [jobs[4]!, jobs[2]!];
  for (const job of settled) await settle(job);
  await restart();
  expect(await counts()).toEqual([3, 0]);
  const sent = await deliverAll();
  expect(sent).toHaveLength(8);
  expect(new Set([...sent, ...idsOf(settled)]).size).toBe(10);
  await restart();
  expect(await claim()).toEqual([]);
  expect(await counts()).toEqual([11, 0]);
});

test('many deliveries since the outbox last wrote its counts are counted after a restart', async () => {
  for (const count of [60, 100, 100, 7]) {
    await accept(count);
    expect(await deliverAll()).toHaveLength(count);
    await restart();
  }
  expect(await claim()).toEqual([]);
  expect(await counts()).toEqual([267, 0]);
});

test('a failure that is reported after a restart delays the delivery like any other', async () => {
  await accept(2);
  const [first, second] = await claim();
  await restart();
  await settle(second!, { ok: false });
  expect(await read(second!)).toMatchObject({ status: 'pending', failures: 1, lease: null });
  expect(await counts()).toEqual([0, 1]);
  // Nobody sends the other one, as far as the outbox knows.
  expect(idsOf(await claim())).toEqual([first!.deliveryId]);
  vi.advanceTimersByTime(LEASE_MS);
  expect(idsOf(await claim()).toSorted()).toEqual(idsOf([first!, second!]).toSorted());
});

test('a success that is reported after a restart ends the delivery, and those before it are due once', async () => {
  await accept(1);
  await deliverAll();
  await accept(3);
  const jobs = await claim();
  await restart();
  await settle(jobs[1]!);
  expect(await read(jobs[1]!)).toMatchObject({ status: 'delivered', failures: 0 });
  await restart();
  expect(idsOf(await claim()).toSorted()).toEqual(idsOf([jobs[0]!, jobs[2]!]).toSorted());
  expect(await counts()).toEqual([2, 0]);
});

test('a failure counts for nothing if another consumer sends the delivery since the restart', async () => {
  await accept(1);
  const [before] = await claim();
  await restart();
  const [after] = await claim();
  expect(after!.deliveryId).toBe(before!.deliveryId);
  await settle(before!, { ok: false });
  expect(await read(after!)).toMatchObject({ status: 'pending', failures: 0, lease: after!.lease });
  await settle(after!);
  expect(await read(after!)).toMatchObject({ status: 'delivered' });
});

test('the lease of a retry outlives a restart, and so does the retry if nobody settles it', async () => {
  await accept(1);
  const [first] = await claim();
  await settle(first!, { ok: false });
  vi.advanceTimersByTime(10_000);
  await claim();
  await restart();
  expect(await claim()).toEqual([]);
  vi.advanceTimersByTime(LEASE_MS);
  const [retry, ...others] = await claim();
  expect([retry?.deliveryId, others]).toEqual([first!.deliveryId, []]);
  await restart();
  await settle(retry!);
  await restart();
  expect(await counts()).toEqual([1, 1]);
  vi.advanceTimersByTime(LEASE_MS);
  expect(await claim()).toEqual([]);
});

test('a retry that follows at once on a success outlives a restart', async () => {
  await accept(1);
  await deliverAll();
  await accept(2);
  const [failing, succeeding] = await claim();
  await settle(failing!, { ok: false });
  vi.advanceTimersByTime(10_000);
  const retry = await settle(succeeding!, { wantsMore: true });
  expect(retry?.deliveryId).toBe(failing!.deliveryId);
  await restart();
  expect(await claim()).toEqual([]);
  vi.advanceTimersByTime(LEASE_MS);
  expect(idsOf(await claim())).toEqual([failing!.deliveryId]);
});

test('a success that comes after its delivery was given up for a retry is counted, also after a restart', async () => {
  await accept(1);
  await deliverAll();
  await accept(1);
  const [first] = await claim();
  vi.advanceTimersByTime(LEASE_MS);
  const [second] = await claim();
  await settle(second!, { ok: false });
  await settle(first!);
  expect(await read(first!)).toMatchObject({ status: 'delivered' });
  await restart();
  expect(await counts()).toEqual([2, 1]);
});

test('an outcome that can’t be stored changes nothing, and is recorded once when it comes again', async () => {
  await accept(2);
  const [failing, succeeding] = await claim();
  await settle(failing!, { ok: false });
  await withFullTable(ada.accountId, 'endpoints', () => expect(settle(succeeding!)).rejects.toThrow('full'));
  expect(await counts()).toEqual([0, 1]);
  await settle(succeeding!);
  expect(await counts()).toEqual([1, 1]);
});

test('a delivery that gets a lower id, after the clock was set back, is sent once after a restart', async () => {
  await accept(1);
  await deliverAll();
  vi.setSystemTime(Date.now() + 5 * DAY_MS);
  await accept(1);
  const [leased] = await claim();
  vi.setSystemTime(Date.now() - 2 * DAY_MS);
  await accept(1);
  await restart();
  const jobs = await claim();
  expect(jobs).toHaveLength(1);
  expect(jobs[0]!.deliveryId < leased!.deliveryId).toBe(true);
});

test('leases and counts that an earlier release has stored stay as they are', async () => {
  await accept(3);
  const [first, second] = await readOutbox<{ id: string }>(
    ada.accountId,
    'SELECT id FROM deliveries ORDER BY id',
  );
  const lanes = {
    takenThrough: second!.id,
    leases: [first!, second!].map((delivery, index) => ({
      deliveryId: delivery.id,
      lease: `lease-${index}`,
      untilMs: Date.now() + LEASE_MS,
    })),
    width: LANES,
    hour: Math.floor(Date.now() / 3_600_000),
    delivered: 5,
    failed: 2,
  };
  await tamperOutbox(ada.accountId, 'INSERT OR REPLACE INTO lanes VALUES (?, ?)', id, JSON.stringify(lanes));
  expect(await counts()).toEqual([5, 2]);
  const [third, ...others] = await claim();
  expect(others).toEqual([]);
  expect([first!.id, second!.id]).not.toContain(third!.deliveryId);
  vi.advanceTimersByTime(LEASE_MS - 1);
  expect(await claim()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(idsOf(await claim()).toSorted()).toEqual([first!.id, second!.id, third!.deliveryId].toSorted());
});
