import { beforeEach, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { openLicense } from '../support/activations.ts';
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
