import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { backUp, restore } from '../support/backup.ts';
import type { Customer } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { type addEndpoint, loseHints, outbox, readOutbox, runOutboxAlarm } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

// The pages of a backup are read one after the other, while the outbox goes on: the deliveries before most others.

type Endpoint = Awaited<ReturnType<typeof addEndpoint>>;

let ada: Customer;
let endpoint: Endpoint;
let sends: ReturnType<typeof loseHints>['sends'];

beforeEach(async () => {
  useFakeClock(Date.parse('2027-03-10T12:00:00.000Z'));
  ({ sends } = loseHints());
  ({ ada, endpoint } = await sellerWithWebhook());
});

afterEach(() => {
  vi.restoreAllMocks();
});

const sendTest = async (): Promise<string> => (await ada.asKey('POST', `${endpoint.path}/test`)).body.id;

/** Makes an attempt at each delivery that is due. Returns the deliveries' ids. */
const attemptAll = async (ok: boolean): Promise<string[]> => {
  const answer = { statusCode: ok ? 200 : 500, error: ok ? null : 'no', durationMs: 1, response: '' };
  const jobs = await outbox(ada.accountId).claim(endpoint.id);
  for (const job of jobs) {
    const outcome = { ok, atMs: Date.now(), retryAfterMs: null, ...answer };
    await outbox(ada.accountId).settle(endpoint.id, job, outcome, false);
  }
  return jobs.map(({ deliveryId }) => deliveryId);
};

/** Restores a backup during which `meanwhile` ran, after the deliveries had been read. */
const restoreTorn = async (meanwhile: () => Promise<unknown>) => {
  const backup = await backUp(ada.accountId, async (line) => {
    if (line.includes('"table":"deliveries"')) await meanwhile();
  });
  await restore(ada.accountId, backup);
};

const listDeliveries = async () => {
  const { status, body } = await ada.asKey('GET', `${endpoint.path}/deliveries`);
  expect(status).toBe(200);
  return (body.data as { id: string; status: string }[]).map(({ id, status }) => [id, status]);
};

const alarmLater = async (ms: number) => {
  vi.setSystemTime(Date.now() + ms);
  await runOutboxAlarm(ada.accountId);
};

test('a restored outbox lists its deliveries, although an old event was deleted during the backup', async () => {
  await sendTest();
  await attemptAll(true);
  vi.setSystemTime(Date.now() + 31 * DAY_MS);
  const later = await sendTest();
  await restoreTorn(() => runOutboxAlarm(ada.accountId));
  expect(await listDeliveries()).toEqual([[later, 'pending']]);
});

test('a restored outbox lists its deliveries, although an event was erased during the backup', async () => {
  // One of the events of a block.
  const events = ['lic_erased', 'lic_other'].map((id, i) => ({
    id: `evt_0VdSA3kk0000000000${i}`,
    name: 'license.created',
    payload: JSON.stringify({ event: 'license.created', license_id: id }),
    createdAtMs: Date.now(),
  }));
  await outbox(ada.accountId).accept(JSON.stringify(events));
  await attemptAll(true);
  expect(await listDeliveries()).toHaveLength(2);
  await restoreTorn(() => outbox(ada.accountId).eraseEvents({ licenseIds: ['lic_erased'], emails: [] }, ''));
  expect(await listDeliveries()).toHaveLength(1);
});

test('a delivery that was settled during the backup is sent again by the restored outbox, and then no more', async () => {
  const id = await sendTest();
  await restoreTorn(() => attemptAll(true));
  expect(await listDeliveries()).toEqual([[id, 'pending']]);
  expect(await attemptAll(true)).toEqual([id]);
  expect(await listDeliveries()).toEqual([[id, 'delivered']]);
  await alarmLater(HOUR_MS);
  expect(await attemptAll(true)).toEqual([]);
});

test('a delivery that came and failed during the backup lets no hints be sent by the restored outbox', async () => {
  await sendTest();
  await attemptAll(true);
  await restoreTorn(async () => {
    await sendTest();
    await attemptAll(false);
  });
  sends.mockClear();
  for (let i = 0; i < 3; i++) await alarmLater(HOUR_MS);
  expect(sends).not.toHaveBeenCalled();
});

test('what was pending at a webhook that was disabled during the backup has failed in the restored outbox', async () => {
  const id = await sendTest();
  await restoreTorn(() => ada.asKey('PATCH', endpoint.path, { status: 'disabled' }));
  expect(await listDeliveries()).toEqual([[id, 'failed']]);
});

test('of a webhook that was deleted during the backup, nothing is left in the restored outbox', async () => {
  await sendTest();
  await attemptAll(false);
  await restoreTorn(() => ada.asKey('DELETE', endpoint.path));
  for (const table of ['endpoints', 'deliveries', 'lanes', 'retries'])
    expect(await readOutbox(ada.accountId, `SELECT * FROM ${table}`)).toEqual([]);
});
