import { beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict } from '../support/gate.ts';

const FLOATING = { max_activations: 1, lease_seconds: 3_600 };

beforeEach(() => useFakeClock('2026-11-22T10:00:00.000Z'));

test('a dead machine’s seat is taken until its lease ends, and free right after', async () => {
  const { on } = await openLicense(FLOATING);
  expect((await on('activate', 1)).activation.lease_until).toBe('2026-11-22T11:00:00.000Z');
  vi.advanceTimersByTime(HOUR_MS - 1);
  expect(await on('activate', 2)).toMatchObject({ code: 'no_seat', retry_at: '2026-11-22T11:00:00.000Z' });
  vi.advanceTimersByTime(1);
  expect(await on('heartbeat', 1)).toMatchObject({ code: 'not_activated', seats: { used: 0 } });
  expect(await on('activate', 2)).toMatchObject({ code: 'valid', seats: { used: 1 } });
  for (const call of ['heartbeat', 'verify', 'activate'])
    expect(await on(call, 1)).toMatchObject({ code: 'no_seat', retry_at: '2026-11-22T12:00:00.000Z' });
});

test('a heartbeat in the last millisecond of a lease holds the seat', async () => {
  const { on } = await openLicense(FLOATING);
  const { activation } = await on('activate', 1);
  vi.advanceTimersByTime(HOUR_MS - 1);
  expect(await on('heartbeat', 1)).toMatchObject({
    code: 'valid',
    activation: { id: activation.id, lease_until: '2026-11-22T11:59:59.999Z' },
  });
  vi.advanceTimersByTime(1);
  expect(await on('activate', 2)).toMatchObject({ code: 'no_seat' });
});

test('a seat that was held forever is free once the lease of its product’s new terms ends', async () => {
  const { customer, on } = await openLicense({ max_activations: 1 });
  expect((await on('activate', 1)).activation.lease_until).toBeNull();
  await customer.asKey('PUT', '/api/v1/products/orrery', { terms: FLOATING });
  expect((await on('heartbeat', 1)).activation.lease_until).toBe('2026-11-22T11:00:00.000Z');
  vi.advanceTimersByTime(HOUR_MS);
  expect(await on('activate', 2)).toMatchObject({ code: 'valid', seats: { used: 1 } });
});

test('a machine that is one transfer too many is told when the next one is allowed', async () => {
  const terms = { max_activations: 1, max_transfers: 2, lease_seconds: 3_600 };
  const { customer, on } = await openLicense(terms);
  for (const n of [1, 2, 3]) {
    await on('activate', n);
    await on('deactivate', n);
    vi.advanceTimersByTime(DAY_MS);
  }
  const refused = { code: 'transfer_limit', retry_at: '2026-12-22T10:00:00.000Z' };
  expect(await on('activate', 4)).toMatchObject(refused);
  // With one transfer less, one more machine has to be gone for 30 days.
  await customer.asKey('PUT', '/api/v1/products/orrery', { terms: { ...terms, max_transfers: 1 } });
  expect(await on('activate', 4)).toMatchObject({ ...refused, retry_at: '2026-12-23T10:00:00.000Z' });
  vi.setSystemTime('2026-12-23T09:59:59.999Z');
  expect(await on('activate', 4)).toMatchObject({ code: 'transfer_limit' });
  vi.advanceTimersByTime(1);
  expect(await on('activate', 4)).toMatchObject({ code: 'valid', retry_at: null });
});

test('without leases, a machine is told when a seat is free that only an offline file holds', async () => {
  const { customer, license, on } = await openLicense({ max_activations: 1 });
  await on('activate', 1);
  expect(await on('activate', 2)).toMatchObject({ code: 'no_seat', retry_at: null });
  const sent = { fingerprint: machineOf(1), days: 3 };
  await customer.asKey('POST', `/api/v1/licenses/${license.id}/token`, sent);
  expect(await on('activate', 2)).toMatchObject({ code: 'no_seat', retry_at: null });
  await on('deactivate', 1);
  const refused = { code: 'no_seat', retry_at: '2026-11-25T10:00:00.000Z' };
  expect(await on('activate', 2)).toMatchObject(refused);
  vi.setSystemTime(refused.retry_at);
  expect(await on('activate', 2)).toMatchObject({ code: 'valid' });
});

test.for(['running', 'restarted'] as const)(
  'a clock that is set back neither frees a seat nor prolongs a lease in a %s gate',
  async (gate) => {
    const { customer, on } = await openLicense(FLOATING);
    const setBack = async () => {
      vi.setSystemTime(Date.now() - 2 * HOUR_MS);
      if (gate === 'restarted') await evict(customer.accountId);
    };
    await on('activate', 1);
    vi.advanceTimersByTime(HOUR_MS / 2);
    const held = { code: 'valid', activation: { lease_until: '2026-11-22T11:30:00.000Z' } };
    expect(await on('heartbeat', 1)).toMatchObject(held);
    await setBack();
    for (const call of ['heartbeat', 'verify', 'activate']) expect(await on(call, 1)).toMatchObject(held);
    expect(await on('activate', 2)).toMatchObject({ code: 'no_seat', retry_at: held.activation.lease_until });

    vi.setSystemTime(held.activation.lease_until);
    expect(await on('activate', 2)).toMatchObject({ code: 'valid' });
    await setBack();
    expect(await on('verify', 1)).toMatchObject({ code: 'no_seat', seats: { used: 1 } });
    expect(await on('deactivate', 2)).toMatchObject({ code: 'deactivated' });
    await setBack();
    expect(await on('verify', 2)).toMatchObject({ code: 'not_activated', seats: { used: 0 } });
    expect(await on('verify', 1)).toMatchObject({
      code: 'valid',
      activation: { lease_until: '2026-11-22T12:30:00.000Z' },
    });
  },
);
