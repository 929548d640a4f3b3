import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import { MACHINE_BYTES, openMachineTotals } from '../../src/gate/home/machine-rows.ts';
import { openMachines } from '../../src/gate/home/machines.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, readGate, tamper } from '../support/gate.ts';

// A license may have more machines than an object can delete at once. When it ends, they go a page at a time.

beforeEach(() => useFakeClock());

const PAGE = 1_000;

/** Notes how many machines each statement deletes. */
const watchDeletions = async (accountId: string): Promise<number[]> => {
  const deleted: number[] = [];
  await runInDurableObject(gate(accountId), (_gate, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql);
    const count = () => exec<{ n: number }>('SELECT count(*) AS n FROM activations').one().n;
    let before = count();
    Object.assign(sql, {
      exec: (query: string, ...bindings: unknown[]) => {
        const cursor = exec(query, ...bindings);
        if (!query.startsWith('DELETE FROM activations')) return cursor;
        const after = count();
        deleted.push(before - after);
        before = after;
        return cursor;
      },
    });
  });
  return deleted;
};

test('a license that is deleted takes thousands of machines with it, 1,000 at a time', async () => {
  const { customer, license, on } = await openLicense({ max_activations: 5_000 }, {}, 'scale');
  const { accountId } = customer;
  await on('activate', 0, { name: 'Büro' });
  const other = await customer.createLicense({ license_key: 'ANOTHER-0001', product: 'orrery' });
  await customer.asKey('POST', '/api/v1/licenses/activate', {
    license_key: 'ANOTHER-0001',
    fingerprint: machineOf(1),
  });
  await tamper(
    accountId,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3499)
     INSERT INTO activations SELECT license_id, printf('added-%04d', i), 'act_' || i, name, platform, app_version,
       activated_at_ms, last_seen_at_ms, counted_at_ms, lease_until_ms, file_until_ms, released_at_ms, live_until_ms
     FROM activations, n WHERE fingerprint = 'machine-0000';
     UPDATE machine_totals SET prune_at_ms = 0`,
  );
  for (let page = 0; page < 5; page++) await runDurableObjectAlarm(gate(accountId));
  const deleted = await watchDeletions(accountId);
  const { status } = await customer.asSession('DELETE', `/api/v1/licenses/${license.id}`);
  expect(status).toBe(200);
  expect((await on('verify', 0)).status).toBe('not_found');
  expect(deleted).toEqual([PAGE]);
  for (let page = 0; page < 3; page++) await runDurableObjectAlarm(gate(accountId));
  expect(deleted).toEqual([PAGE, PAGE, PAGE, 500]);
  expect(await readGate(accountId, 'SELECT license_id AS id FROM activations')).toEqual([{ id: other.id }]);
  expect(await readGate(accountId, 'SELECT DISTINCT license_id AS id FROM seat_changes')).toEqual([
    { id: other.id },
  ]);
  const [{ bytes, summed } = {}] = await readGate(
    accountId,
    `SELECT bytes - 150 - octet_length('${machineOf(1)}') AS bytes,
       (SELECT sum(${MACHINE_BYTES}) FROM activations) AS summed FROM machine_totals`,
  );
  expect(bytes).toBe(summed);
});

test('a license that is there again keeps the machines that activate meanwhile', () =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_gate, { storage: { sql } }) => {
    const machines = openMachines(sql, openMachineTotals(sql));
    const licenses = ['lic_1', 'lic_2'];
    const seat = { activatedAtMs: 1, lastSeenAtMs: 1, countedAtMs: 1, leaseUntilMs: null };
    const write = (licenseId: string, n: number) =>
      machines.write({
        id: null,
        licenseId,
        fingerprint: machineOf(n),
        name: null,
        platform: null,
        appVersion: null,
        seat: { ...seat, fileUntilMs: null, releasedAtMs: null },
      });
    for (const licenseId of licenses) for (let n = 0; n < PAGE; n++) write(licenseId, n);
    machines.eraseLicenses(licenses);
    write('lic_2', PAGE);
    for (let page = 0; page < 3; page++) machines.ended.erasePage();
    expect(machines.ended.hasAny()).toBe(false);
    const kept = sql.exec(
      'SELECT license_id AS id, count(*) AS machines FROM activations GROUP BY license_id',
    );
    expect(kept.toArray()).toEqual([{ id: 'lic_2', machines: PAGE + 1 }]);
  }));
