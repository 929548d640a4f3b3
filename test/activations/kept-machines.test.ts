import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import type { Json } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, readGate, tamper } from '../support/gate.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

// How long, and how many, machines of a license are kept.

beforeEach(() => useFakeClock('2026-11-22T10:00:00.000Z'));

const OTHERS = [
  'license_id',
  'activated_at_ms',
  'counted_at_ms',
  'lease_until_ms',
  'file_until_ms',
  'released_at_ms',
  'live_until_ms',
];
/** Columns of machines that were used on more than one day. */
const REGULAR = { activated_at_ms: `activated_at_ms - ${9 * DAY_MS}` };

const open = async (terms: Json) => {
  const opened = await openLicense(terms, { license_key: 'KEY-000001' });
  const { accountId } = opened.customer;
  const { on } = opened;
  await on('activate', 0);
  const fingerprints = async () =>
    (await readGate<{ fingerprint: string }>(accountId, 'SELECT fingerprint FROM activations')).map(
      ({ fingerprint }) => fingerprint,
    );
  /**
   * Adds machines that are like the first one, but for some columns. Each was seen a second later than the one before, and all
   * before the first.
   */
  const addMachines = (count: number, columns: Record<string, string | number> = {}, from = 1) => {
    const values = {
      last_seen_at_ms: `last_seen_at_ms - ${4 * HOUR_MS} + i * 1000`,
      fingerprint: "printf('machine-%04d', i)",
      id: "'act_' || i",
      ...columns,
    };
    const names = Object.keys(values);
    return tamper(
      accountId,
      `CREATE TABLE added AS SELECT * FROM activations WHERE fingerprint = 'machine-0000';
       CREATE TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${from + count - 1}) SELECT i FROM n;
       INSERT INTO activations (${[...names, ...OTHERS.filter((name) => !names.includes(name))].join(', ')})
         SELECT ${[...Object.values(values), ...OTHERS.filter((name) => !names.includes(name))].join(', ')} FROM added, numbers;
       DROP TABLE added; DROP TABLE numbers`,
    );
  };
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

  test('keeps the machines that were used on more than one day, however many others activate once', async () => {
    const { on, fingerprints, addMachines } = await open({});
    await addMachines(400, REGULAR);
    await addMachines(650, {}, 2_001);
    for (let n = 1; n <= 5; n++) await on('activate', 5_000 + n);
    const kept = await fingerprints();
    expect(kept).toHaveLength(1_000);
    const regular = Array.from({ length: 400 }, (_, n) => machineOf(n + 1));
    expect(kept).toEqual(expect.arrayContaining([...regular, machineOf(5_001), machineOf(5_005)]));
  });

  test('keeps the last 500 of those machines if there are more', async () => {
    const { on, fingerprints, addMachines } = await open({});
    await addMachines(600, REGULAR);
    await addMachines(900, {}, 2_001);
    await on('activate', 5_000);
    const kept = await fingerprints();
    expect(kept).toHaveLength(1_000);
    const regular = Array.from({ length: 500 }, (_, n) => machineOf(n + 101));
    expect(kept).toEqual(expect.arrayContaining([...regular, machineOf(5_000)]));
    expect(kept).not.toContain(machineOf(100));
  });

  test('keeps a new machine although all others are used every day', async () => {
    const { on, fingerprints, addMachines } = await open({});
    await addMachines(1_050, REGULAR);
    for (let n = 1; n <= 5; n++) await on('activate', 5_000 + n);
    const kept = await fingerprints();
    expect(kept).toHaveLength(1_000);
    expect(kept).toEqual(expect.arrayContaining([1, 2, 3, 4, 5].map((n) => machineOf(5_000 + n))));
  });

  test('keeps a machine whose offline file has not ended', async () => {
    const { on, fingerprints, addMachines } = await open({});
    await addMachines(1_100, { file_until_ms: `iif(i < 3, ${Date.now() + DAY_MS}, NULL)` });
    await on('activate', 5_000);
    expect(await fingerprints()).toEqual(expect.arrayContaining([1, 2].map(machineOf)));
    vi.advanceTimersByTime(DAY_MS);
    await on('activate', 5_001);
    expect(await fingerprints()).not.toContain(machineOf(1));
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

describe('a license with a limit', () => {
  /** Released its seat, as a column of a machine with a number says. */
  const released = (condition: string) => {
    const atMs = `iif(${condition}, ${Date.now()} - 1, NULL)`;
    return { released_at_ms: atMs, live_until_ms: `coalesce(${atMs}, live_until_ms)` };
  };

  test('keeps all machines with a seat, and as many that have released theirs and 1,000 more', async () => {
    const { on, fingerprints, addMachines } = await open({ max_activations: 100 });
    await addMachines(1_250, released('i > 50'));
    await on('activate', 5_000);
    const kept = await fingerprints();
    // Those with a seat are 0 to 50 and 5,000.
    expect(kept).toHaveLength(52 + 1_100);
    expect(kept).toEqual(expect.arrayContaining([0, 1, 50, 151, 1_250, 5_000].map(machineOf)));
    expect(kept).not.toContain(machineOf(150));
    // The next ones go together, because looking for them reads all machines.
    for (let n = 1; n <= 11; n++) {
      await on('activate', 5_000 + n);
      await on('deactivate', 5_000 + n);
      vi.advanceTimersByTime(1_000);
    }
    expect(await fingerprints()).toHaveLength(52 + 1_111);
    await on('activate', 5_012);
    await on('deactivate', 5_012);
    await on('activate', 5_013);
    expect(await fingerprints()).toHaveLength(53 + 1_100);
  });

  test('keeps each machine whose lease has ended for 30 days, however many others come and go', async () => {
    const { on, fingerprints, addMachines } = await open({ max_activations: 2, lease_seconds: 3_600 });
    const nowMs = Date.now();
    await addMachines(1_300, { lease_until_ms: nowMs - 1, live_until_ms: nowMs - 1 });
    await addMachines(1_100, released('true'), 2_001);
    await on('activate', 5_000);
    expect(await on('verify', 1)).toMatchObject({ code: 'no_seat' });
    await on('deactivate', 5_000);
    expect(await on('verify', 1)).toMatchObject({ code: 'valid' });
    expect(await fingerprints()).toHaveLength(1 + 1_300 + 1_003);
  });
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
    await tamper(
      accountId,
      `DROP INDEX activations_by_activation; DROP INDEX activations_by_fingerprint; DROP INDEX activations_by_name;
       DROP TABLE machine_totals; DROP TABLE ended_licenses; ALTER TABLE recent_counters DROP COLUMN events;
       UPDATE storage_version SET version = 9`,
    );
    await runDurableObjectAlarm(gate(accountId));
    expect(await totals()).toEqual(counted);
    vi.advanceTimersByTime(31 * DAY_MS);
    expect(await runDurableObjectAlarm(gate(accountId))).toBe(true);
    expect(await fingerprints()).toEqual([]);
  });

  test('thousands are deleted 1,000 at a time when others activate', async () => {
    const { on, fingerprints, addMachines } = await open({ lease_seconds: 60 });
    await addMachines(2_300);
    vi.advanceTimersByTime(90 * DAY_MS);
    const left: number[] = [];
    for (let n = 1; n <= 3; n++) {
      await on('activate', 5_000 + n);
      left.push((await fingerprints()).length);
    }
    expect(left).toEqual([1_302, 303, 3]);
  });

  test('they are deleted when another machine activates', async () => {
    const { on, fingerprints } = await openLapsed();
    vi.advanceTimersByTime(90 * DAY_MS);
    await on('activate', 100);
    expect(await fingerprints()).toEqual([machineOf(100)]);
  });
});
