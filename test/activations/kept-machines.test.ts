import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import type { Json } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, readGate, tamper } from '../support/gate.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

// How long, and how many, machines of a license are kept.

beforeEach(() => useFakeClock('2026-11-22T10:00:00.000Z'));

const open = async (terms: Json) => {
  const opened = await openLicense(terms, { license_key: 'KEY-000001' });
  const { accountId } = opened.customer;
  const { on } = opened;
  await on('activate', 0);
  const fingerprints = async () =>
    (await readGate<{ fingerprint: string }>(accountId, 'SELECT fingerprint FROM activations')).map(
      ({ fingerprint }) => fingerprint,
    );
  /** Adds machines that are like the first one. Each was seen a second later than the one before, and all before the first. */
  const addMachines = (count: number, change = 'live_until_ms') =>
    tamper(
      accountId,
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO activations SELECT license_id, printf('machine-%04d', i), 'act_' || i, name, platform, app_version,
         activated_at_ms, last_seen_at_ms - 10000000 + i * 1000, counted_at_ms, lease_until_ms, file_until_ms, released_at_ms, ${change}
       FROM activations, n`,
      count,
    );
  return { ...opened, accountId, fingerprints, addMachines };
};

describe('a license without a limit of seats', () => {
  test('keeps the 1,000 machines that were seen last', async () => {
    const { on, fingerprints, addMachines } = await open({ offline_days: 1 });
    await addMachines(1_012);
    await on('activate', 5_000);
    const kept = await fingerprints();
    expect(kept).toHaveLength(1_000);
    expect(kept).toEqual(expect.arrayContaining([0, 15, 1_012, 5_000].map(machineOf)));
    expect(kept).not.toContain(machineOf(14));
    // Nothing else changes for the others.
    expect(await on('verify', 1)).toMatchObject({ code: 'valid', activation: null });
    for (let n = 1; n <= 3; n++) {
      await on('activate', 5_000 + n);
      expect(await fingerprints()).toHaveLength(1_000);
    }
  });

  test('keeps the 1,000 of an import that were seen last', async () => {
    const { customer, fingerprints } = await open({ offline_days: 1 });
    const at = (n: number) => isoTime(Date.now() - n * 60_000);
    const lines = Array.from({ length: 1_500 }, (_, n) => ({
      type: 'activation',
      license_key: 'KEY-000001',
      fingerprint: machineOf(n + 1),
      activated_at: at(n),
    }));
    await importAs(customer, toLines(lines));
    const kept = await fingerprints();
    expect(kept).toHaveLength(1_000);
    expect(kept).toEqual(expect.arrayContaining([0, 1, 999].map(machineOf)));
  });
});

test('a license with a limit keeps all machines with a seat, and the last 1,000 without', async () => {
  const { on, fingerprints, addMachines } = await open({ max_activations: 100 });
  await addMachines(1_200, `iif(i > 50, ${Date.now()} - i, live_until_ms)`);
  await on('activate', 5_000);
  const kept = await fingerprints();
  expect(kept).toHaveLength(1_100);
  expect(kept).toEqual(expect.arrayContaining([0, 1, 50, 153, 1_200, 5_000].map(machineOf)));
  expect(kept).not.toContain(machineOf(152));
  // The next ones go together, because looking for them reads all machines.
  for (let n = 1; n <= 11; n++) await on('activate', 5_000 + n);
  expect(await fingerprints()).toHaveLength(1_111);
  await on('activate', 5_012);
  expect(await fingerprints()).toHaveLength(1_100);
});

describe('30 days after the leases of five machines have ended', () => {
  const openLapsed = async () => {
    const opened = await open({ lease_seconds: 60 });
    for (let n = 1; n < 5; n++) await opened.on('activate', n, { name: `Laptop ${n}` });
    expect(await opened.fingerprints()).toHaveLength(5);
    return opened;
  };

  test('they are deleted, although nobody calls', async () => {
    const { accountId, fingerprints } = await openLapsed();
    vi.advanceTimersByTime(29 * DAY_MS);
    await runDurableObjectAlarm(gate(accountId));
    expect(await fingerprints()).toHaveLength(5);
    vi.advanceTimersByTime(2 * DAY_MS);
    expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
    expect(await fingerprints()).toEqual([]);
  });

  test('one that is released while the alarm looks through the others is deleted as well', async () => {
    const { on, accountId, fingerprints, addMachines } = await open({ max_activations: 2_000 });
    await addMachines(1_500);
    await tamper(accountId, 'UPDATE machine_totals SET prune_at_ms = 0');
    await runDurableObjectAlarm(gate(accountId));
    await on('deactivate', 0);
    await runDurableObjectAlarm(gate(accountId));
    vi.advanceTimersByTime(31 * DAY_MS);
    expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
    expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
    const kept = await fingerprints();
    expect(kept).toHaveLength(1_500);
    expect(kept).not.toContain(machineOf(0));
  });

  test('those of a gate of an earlier release are counted and deleted, too', async () => {
    const { accountId, fingerprints } = await openLapsed();
    const totals = async () => readGate(accountId, 'SELECT bytes FROM machine_totals');
    const counted = await totals();
    await tamper(accountId, 'DROP TABLE machine_totals; UPDATE storage_version SET version = 9');
    expect(await totals()).toEqual(counted);
    vi.advanceTimersByTime(31 * DAY_MS);
    expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
    expect(await fingerprints()).toEqual([]);
  });

  test('they are deleted when another machine activates', async () => {
    const { on, fingerprints } = await openLapsed();
    vi.advanceTimersByTime(90 * DAY_MS);
    await on('activate', 100);
    expect(await fingerprints()).toEqual([machineOf(100)]);
  });
});
