import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import type { Json } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, readGate, storedEvents, tamper } from '../support/gate.ts';

const FLOATING = { max_activations: 1, lease_seconds: 3_600 };

beforeEach(() => useFakeClock('2026-11-22T10:00:00.000Z'));

const openSeller = async (terms: Json) => {
  const opened = await openLicense(terms);
  const { customer, license } = opened;
  const path = `/api/v1/licenses/${license.id}`;
  const holders = async (): Promise<string[]> =>
    (await customer.asKey('GET', `${path}/activations`)).body.data.map(
      ({ fingerprint }: Json) => fingerprint,
    );
  const release = (id: string) => customer.asKey('DELETE', `${path}/activations/${id}`);
  const issueFile = (sent: Json) => customer.asKey('POST', `${path}/token`, sent);
  return { ...opened, holders, release, issueFile };
};

describe('replace', () => {
  test('releases the other machine’s seat even if another seat is free', async () => {
    const { on, holders } = await openSeller({ max_activations: 2, self_service: true });
    const { activation } = await on('activate', 1);
    expect(await on('activate', 2, { replace: activation.id })).toMatchObject({
      seats: { used: 1, limit: 2 },
    });
    expect(await holders()).toEqual([machineOf(2)]);
  });

  test('is ignored by verify, which takes no other machine’s seat', async () => {
    const { on, holders } = await openSeller({ ...FLOATING, self_service: true });
    await on('activate', 1);
    vi.advanceTimersByTime(HOUR_MS);
    const { activation } = await on('activate', 2);
    expect(await on('verify', 1, { replace: activation.id })).toMatchObject({ code: 'no_seat' });
    expect(await holders()).toEqual([machineOf(2)]);
  });

  test('releases nothing if the machine gets no seat', async () => {
    const { on, holders } = await openSeller({ max_activations: 1, max_transfers: 0, self_service: true });
    const { activation } = await on('activate', 1);
    expect(await on('activate', 2, { replace: activation.id })).toMatchObject({ code: 'transfer_limit' });
    expect(await holders()).toEqual([machineOf(1)]);
  });
});

describe('an offline file', () => {
  test('holds the seat of a machine that has deactivated, which has no activation any more', async () => {
    const { on, holders, issueFile } = await openSeller({ max_activations: 1 });
    await issueFile({ fingerprint: machineOf(1), days: 1 });
    await on('deactivate', 1);
    for (const call of ['verify', 'heartbeat'])
      expect(await on(call, 1)).toMatchObject({ code: 'not_activated', activation: null });
    expect(await holders()).toEqual([machineOf(1)]);
  });

  test('requires its days if the terms have no time offline', async () => {
    const { issueFile } = await openSeller({ max_activations: 1, offline_days: 0 });
    const refused = await issueFile({ fingerprint: machineOf(1) });
    expect(refused.body.error).toMatchObject({ code: 'invalid_request', details: [{ path: 'days' }] });
    expect((await issueFile({ fingerprint: machineOf(1), days: 1 })).status).toBe(200);
  });
});

test('the seat history tells who took and released which machine’s seat, newest first', async () => {
  const { customer, license, on, release, issueFile } = await openSeller({
    max_activations: 1,
    self_service: true,
  });
  const path = `/api/v1/licenses/${license.id}/seat-history`;
  const history = async (query = '') => (await customer.asSession('GET', path + query)).body;
  const first = (await on('activate', 1, { name: 'Laptop' })).activation;
  vi.advanceTimersByTime(HOUR_MS);
  await on('verify', 1);
  await on('activate', 2, { replace: first.id });
  await on('activate', 3);
  await on('deactivate', 2);
  await issueFile({ fingerprint: machineOf(1), days: 1 });
  const [{ activation_id: id }] = (await history('?limit=1')).data;
  await release(id);
  expect((await history()).data).toHaveLength(6);
  await customer.asKey('DELETE', `/api/v1/licenses/${license.id}/activations/${id}?force=true`);
  await evict(customer.accountId);
  const { data, next_cursor } = await history();
  expect(data.map(({ action, by, fingerprint }: Json) => `${fingerprint} ${action} by ${by}`)).toEqual([
    `${machineOf(1)} released by seller`,
    `${machineOf(1)} taken by seller`,
    `${machineOf(2)} released by application`,
    `${machineOf(3)} refused by application`,
    `${machineOf(2)} taken by application`,
    `${machineOf(1)} released by application`,
    `${machineOf(1)} taken by application`,
  ]);
  expect(data.at(-1)).toEqual({
    action: 'taken',
    at: '2026-11-22T10:00:00.000Z',
    by: 'application',
    activation_id: first.id,
    fingerprint: machineOf(1),
    name: 'Laptop',
    reason: null,
  });
  expect(next_cursor).toBeNull();
  const page = await history('?limit=4');
  expect((await history(`?limit=4&cursor=${page.next_cursor}`)).data).toEqual(data.slice(4));
  await customer.asKey('DELETE', `/api/v1/licenses/${license.id}`);
  expect(await readGate(customer.accountId, 'SELECT 1 FROM seat_changes')).toEqual([]);
});

test('the seat history has the last refusal of each machine, of which one an hour is noted', async () => {
  const { customer, license, on, issueFile } = await openSeller({ max_activations: 1, max_transfers: 0 });
  const path = `/api/v1/licenses/${license.id}/seat-history`;
  const refusals = async (): Promise<Json[]> =>
    (await customer.asSession('GET', path)).body.data.filter(({ action }: Json) => action === 'refused');
  for (const call of ['activate', 'deactivate']) await on(call, 1);
  await on('activate', 2, { name: 'Laptop' });
  await on('activate', 3);
  await on('heartbeat', 4);
  const refused = { action: 'refused', activation_id: null, name: null };
  const second = { ...refused, by: 'application', fingerprint: machineOf(2), name: 'Laptop' };
  expect(await refusals()).toEqual([{ ...second, at: '2026-11-22T10:00:00.000Z', reason: 'transfer_limit' }]);
  vi.advanceTimersByTime(HOUR_MS);
  expect((await issueFile({ fingerprint: machineOf(3), days: 1 })).status).toBe(409);
  vi.advanceTimersByTime(HOUR_MS);
  await on('activate', 1);
  await on('activate', 2, { name: 'Laptop' });
  expect(await refusals()).toEqual([
    { ...second, at: '2026-11-22T12:00:00.000Z', reason: 'no_seat' },
    {
      ...refused,
      by: 'seller',
      at: '2026-11-22T11:00:00.000Z',
      fingerprint: machineOf(3),
      reason: 'transfer_limit',
    },
  ]);
});

test('refused machines don’t push out of the history when seats were taken', async () => {
  const { customer, license, on } = await openSeller({ max_activations: 1 });
  await on('activate', 1);
  await tamper(
    customer.accountId,
    `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 180)
     INSERT INTO seat_changes SELECT ?, i, 0, 'no_seat', 'application', '', 'stranger-' || i, null FROM n`,
    license.id,
  );
  await on('activate', 2);
  const rows = await readGate(customer.accountId, 'SELECT seq, action FROM seat_changes ORDER BY seq');
  expect(rows).toHaveLength(1 + 50);
  expect([rows[0], rows[1], rows.at(-1)]).toEqual([
    { seq: 1, action: 'taken' },
    { seq: 132, action: 'no_seat' },
    { seq: 181, action: 'no_seat' },
  ]);
});

test('the seat history keeps the latest 200 changes', async () => {
  const { customer, license, on } = await openSeller({ max_activations: 1 });
  await on('activate', 1);
  await tamper(customer.accountId, 'UPDATE seat_changes SET seq = 248');
  await tamper(
    customer.accountId,
    "INSERT INTO seat_changes VALUES (?, 49, 0, 'taken', 'seller', 'act_1', 'f', null), (?, 50, 0, 'released', 'seller', 'act_1', 'f', null)",
    license.id,
    license.id,
  );
  await on('deactivate', 1);
  await on('activate', 1);
  const rows = await readGate(customer.accountId, 'SELECT seq FROM seat_changes');
  expect(rows.map(({ seq }) => seq)).toEqual([248, 249, 250]);
});

describe('a seat whose lease has ended', () => {
  test('does not become recent again when the seller releases it', async () => {
    const { on, release } = await openSeller({ ...FLOATING, max_transfers: 0 });
    const { activation } = await on('activate', 1);
    vi.advanceTimersByTime(HOUR_MS + 29 * DAY_MS);
    expect((await release(activation.id)).status).toBe(200);
    expect(await on('activate', 2)).toMatchObject({ code: 'transfer_limit' });
    vi.advanceTimersByTime(DAY_MS);
    expect(await on('activate', 2)).toMatchObject({ code: 'valid' });
  });

  test('can’t be released after 30 days', async () => {
    const { on, release } = await openSeller(FLOATING);
    const { activation } = await on('activate', 1);
    vi.advanceTimersByTime(HOUR_MS + 30 * DAY_MS);
    expect((await release(activation.id)).body.error.code).toBe('activation_not_found');
  });

  test('sends the event of its release with the time of the call', async () => {
    const { customer, on } = await openSeller(FLOATING);
    await on('activate', 1);
    vi.advanceTimersByTime(DAY_MS);
    await on('deactivate', 1);
    const events = await storedEvents(customer.accountId);
    const released = events.find(({ name }) => name === 'activation.released');
    expect(JSON.parse(released?.payload ?? '').timestamp).toBe(isoTime(Date.now()));
  });
});
