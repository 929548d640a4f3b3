import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { HISTORY_BYTES, MACHINE_BYTES } from '../../src/gate/home/machine-rows.ts';
import { readBackup } from '../../src/operators/backup.ts';
import { restoreBackup } from '../../src/operators/restore.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { PLANS } from '../../src/shared/rules/plans.ts';
import { openLicense } from '../support/activations.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, raiseEpoch, readGate, tamper } from '../support/gate.ts';

// The bytes of an account's machines are a sum that is kept, in the gate and in D1. Whatever makes it wrong is mended.

const WRONG = PLANS.free.storageBytes;

beforeEach(() => useFakeClock('2026-11-22T10:00:00.000Z'));

const open = async () => {
  const opened = await openLicense({ max_activations: 5_000 }, {}, 'scale');
  const { accountId } = opened.customer;
  for (const n of [1, 2]) await opened.on('activate', n, { name: 'Büro' });
  const runAlarms = async (times: number) => {
    for (let run = 0; run < times; run++) await runDurableObjectAlarm(gate(accountId));
  };
  return {
    ...opened,
    accountId,
    runAlarms,
    setTotal: (bytes: number) => tamper(accountId, 'UPDATE machine_totals SET bytes = ?', bytes),
    total: async () => (await readGate(accountId, 'SELECT bytes FROM machine_totals'))[0]?.['bytes'],
    summed: async () => {
      const rows = await readGate<{ bytes: number }>(
        accountId,
        `SELECT (SELECT sum(${MACHINE_BYTES}) FROM activations) + (SELECT sum(${HISTORY_BYTES}) FROM seat_changes) AS bytes`,
      );
      return rows[0]?.bytes;
    },
    /** What D1 counts in the account's storage. */
    told: () =>
      accountsD1
        .prepare('SELECT machine_bytes FROM license_totals WHERE account_id = ?')
        .bind(accountId)
        .first<number>('machine_bytes'),
    addMachines: (count: number) =>
      tamper(
        accountId,
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO activations SELECT license_id, printf('added-%04d', i), 'act_' || i, name, platform, app_version,
           activated_at_ms, last_seen_at_ms, counted_at_ms, lease_until_ms, file_until_ms, released_at_ms, live_until_ms
         FROM activations, n WHERE fingerprint = 'machine-0001'`,
        count,
      ),
  };
};

test('after the start of another release, a sum that is wrong is added up again', async () => {
  const { on, accountId, runAlarms, setTotal, total, summed } = await open();
  await setTotal(WRONG * 1_000);
  expect((await on('activate', 3)).error?.code).toBe('storage_limit_reached');
  // An earlier release has left its copy.
  await tamper(accountId, `UPDATE facts SET value = json_set(value, '$.version', 2) WHERE name = 'progress'`);
  await on('verify', 1);
  await runAlarms(1);
  expect(await total()).toBe(await summed());
  expect((await on('activate', 3)).code).toBe('valid');
});

test('a sum that refuses a machine is added up again within a day', async () => {
  const { on, runAlarms, setTotal, total, summed } = await open();
  await setTotal(WRONG * 1_000);
  for (let hour = 0; hour < 24; hour++) {
    expect((await on('activate', 3)).error?.code).toBe('storage_limit_reached');
    vi.advanceTimersByTime(HOUR_MS);
  }
  await runAlarms(1);
  expect(await total()).toBe(await summed());
  expect((await on('activate', 3)).code).toBe('valid');
});

test('the sum of a backup is added up again after its restore', async () => {
  const { on, accountId, runAlarms, setTotal, total, summed } = await open();
  await setTotal(WRONG);
  const lines: string[] = [];
  for await (const [line] of readBackup(ctxOf(accountId))) lines.push(JSON.stringify(line));
  await on('deactivate', 2);
  await restoreBackup(ctxOf(accountId), new Response(lines.join('\n')).body, true);
  vi.advanceTimersByTime(HOUR_MS);
  await runAlarms(1);
  expect(await total()).toBe(await summed());
});

test('machines that change while the alarm looks through them count once', async () => {
  const { customer, license, on, runAlarms, addMachines, setTotal, total, summed } = await open();
  await addMachines(2_500);
  await setTotal(0);
  await tamper(customer.accountId, 'UPDATE machine_totals SET prune_at_ms = 0');
  // Behind and ahead of what was looked through: added-0001 to added-2500 come before machine-0001.
  for (let page = 0; page < 3; page++) {
    await runAlarms(1);
    await on('activate', 10 + page, { name: `New ${page}` });
    await on('deactivate', page);
    for (const n of [1, 2_499]) {
      const fingerprint = `added-${String(n).padStart(4, '0')}`;
      await customer.asKey('POST', '/api/v1/licenses/verify', {
        license_key: license.license_key,
        fingerprint,
        name: 'n'.repeat(10 * page),
      });
    }
  }
  await customer.asSession('POST', '/api/erase-customer', { customer_email: license.customer_email });
  await runAlarms(2);
  expect(await total()).toBe(await summed());
  vi.advanceTimersByTime(31 * DAY_MS);
  await runAlarms(4);
  expect(await total()).toBe(await summed());
});

test('a machine that is released while a long history is added up is deleted 30 days later', async () => {
  const { on, accountId, runAlarms } = await open();
  await tamper(
    accountId,
    `INSERT INTO seat_changes (license_id, seq, at_ms, action, actor, activation_id, fingerprint)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
       SELECT printf('lic_%04d', i), 1, 0, 'taken', 'application', 'act_1', 'machine-0001' FROM n;
     UPDATE machine_totals SET prune_at_ms = 0`,
  );
  await runAlarms(1);
  await on('deactivate', 1);
  await runAlarms(1);
  vi.advanceTimersByTime(31 * DAY_MS);
  await runAlarms(1);
  const kept = await readGate(accountId, 'SELECT fingerprint FROM activations');
  expect(kept).toEqual([{ fingerprint: 'machine-0002' }]);
});

test('D1 is told anew, however little it is, once a gate has loaded its copy again', async () => {
  const { on, accountId, runAlarms, summed, told } = await open();
  const restored = 5_000_000;
  await runAlarms(1);
  expect(await told()).toBe(await summed());
  await accountsD1.exec(
    `UPDATE license_totals SET machine_bytes = ${restored} WHERE account_id = '${accountId}'`,
  );
  await raiseEpoch(accountId);
  await on('verify', 1);
  expect(await told()).toBe(restored);
  vi.advanceTimersByTime(HOUR_MS);
  await runAlarms(2);
  expect(await told()).toBe(await summed());
});

test('D1 is told anew what a restored gate has', async () => {
  const { on, accountId, runAlarms, addMachines, total, told } = await open();
  await runAlarms(1);
  const lines: string[] = [];
  for await (const [line] of readBackup(ctxOf(accountId))) lines.push(JSON.stringify(line));
  await addMachines(1_000);
  await tamper(accountId, 'UPDATE machine_totals SET prune_at_ms = 0');
  await on('verify', 1);
  vi.advanceTimersByTime(HOUR_MS);
  await runAlarms(3);
  const many = await told();
  expect(many).toBe(await total());
  expect(many).toBeGreaterThan(250_000);
  await restoreBackup(ctxOf(accountId), new Response(lines.join('\n')).body, true);
  vi.advanceTimersByTime(HOUR_MS);
  await runAlarms(2);
  expect(await told()).toBe(await total());
  expect(await told()).toBeLessThan(2_000);
});
