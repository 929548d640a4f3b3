import { beforeEach, describe, expect, test, vi } from 'vitest';
import { HOUR_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { tamper } from '../support/gate.ts';
import { watchRows } from '../support/rows.ts';

// Calls that count nothing cost nothing that grows with the machines of a license: the gate is billed by the rows that it reads.

const SEATS = 20_000;
const TERMS = { max_activations: SEATS, lease_seconds: 3_600, self_service: true };

beforeEach(() => useFakeClock('2026-11-22T10:00:00.000Z'));

/** A license all of whose seats are taken. The leases end one after another, `firstEndMs` from now on. */
const openFullLicense = async (terms: object, firstEndMs: number) => {
  const opened = await openLicense(terms, {}, 'scale');
  const { customer, license } = opened;
  const nowMs = Date.now();
  await opened.on('activate', SEATS);
  vi.advanceTimersByTime(HOUR_MS + 1);
  await tamper(
    customer.accountId,
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
     INSERT INTO activations (license_id, fingerprint, id, activated_at_ms, last_seen_at_ms, counted_at_ms,
       lease_until_ms, live_until_ms)
     SELECT ?2, printf('machine-%04d', i), printf('act_00000000000000%06d', i), ?3, ?3 + i, ?3, ?3 + ?4 + i, ?3 + ?4 + i FROM n`,
    SEATS,
    license.id,
    nowMs,
    firstEndMs,
  );
  // What the gate reads once after a restart.
  await opened.on('heartbeat', SEATS);
  return {
    ...opened,
    path: `/api/v1/licenses/${license.id}/activations`,
    rows: await watchRows(customer.accountId),
  };
};

describe('with 20,000 machines, few rows are read', () => {
  test('by heartbeats that find no seat, and they name the machines and when a seat is free', async () => {
    const { on, rows } = await openFullLicense(TERMS, 3 * HOUR_MS);
    const answer = await on('heartbeat', SEATS);
    expect(answer).toMatchObject({ code: 'no_seat', retry_at: isoTime(Date.now() + 2 * HOUR_MS - 1) });
    expect(answer.machines).toHaveLength(100);
    expect((await rows.take()).read).toBeLessThan(300);
  });

  test('by heartbeats while one lease ends after another', async () => {
    const { on, rows } = await openFullLicense({ ...TERMS, max_activations: 100 }, 2 * HOUR_MS);
    vi.advanceTimersByTime(HOUR_MS - 3);
    for (let ended = 0; ended < 150; ended++) {
      vi.advanceTimersByTime(1);
      const { code, seats } = await on('heartbeat', SEATS);
      expect([code, seats.used]).toEqual(['no_seat', SEATS - ended]);
    }
    expect((await rows.take()).read).toBeLessThan(150 * 500);
  });

  test('by a deactivation, and by the seller’s list and release', async () => {
    const { customer, on, path, rows } = await openFullLicense(TERMS, 3 * HOUR_MS);
    expect(await on('deactivate', 5)).toMatchObject({ code: 'deactivated' });
    const page = await customer.asKey('GET', `${path}?limit=1`);
    expect(page.body).toMatchObject({
      data: [{ fingerprint: machineOf(SEATS - 1) }],
      seats: { used: SEATS - 1, limit: SEATS },
    });
    expect((await customer.asKey('DELETE', `${path}/${page.body.data[0].id}`)).status).toBe(200);
    const next = await customer.asKey('GET', `${path}?limit=1&cursor=${page.body.next_cursor}`);
    expect(next.body.seats.used).toBe(SEATS - 2);
    expect((await rows.take()).read).toBeLessThan(200);
  });
});

test('heartbeats with a new name each write nothing, and the machine’s next verify writes its name', async () => {
  const { customer, on } = await openLicense(TERMS, {}, 'scale');
  await on('activate', 1, { name: 'Laptop', app_version: '1.0' });
  vi.advanceTimersByTime(60_000);
  await on('heartbeat', 1);
  const rows = await watchRows(customer.accountId);
  for (let n = 0; n < 20; n++) {
    const sent = { name: `Laptop ${n}`, platform: `os ${n}`, app_version: `1.${n}` };
    expect(await on('heartbeat', 1, sent)).toMatchObject({ code: 'valid', activation: { name: 'Laptop' } });
  }
  expect((await rows.take()).written).toBe(0);
  expect(await on('verify', 1, { name: 'Büro' })).toMatchObject({ activation: { name: 'Büro' } });
});

test('a page of the list ends early where many machines have no seat any more, and the next pages continue', async () => {
  const { customer, path } = await openFullLicense(TERMS, 2 * HOUR_MS);
  // The leases of all but the newest 18,000 machines go on, which are behind those that have ended.
  await tamper(
    customer.accountId,
    'UPDATE activations SET live_until_ms = ? WHERE id >= ?',
    Date.now(),
    'act_00000000000000002000',
  );
  const lengths: number[] = [];
  let query = '?limit=100';
  for (let cursor: string | null = ''; cursor !== null; query = `?limit=100&cursor=${cursor}`) {
    const { body } = await customer.asKey('GET', path + query);
    lengths.push(body.data.length);
    cursor = body.next_cursor;
  }
  expect(lengths.slice(0, 18)).toEqual(Array.from({ length: 18 }, () => 0));
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(2_000);
});
