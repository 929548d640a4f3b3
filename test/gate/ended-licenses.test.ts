import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { ORPHAN_MS } from '../../src/gate/home/orphans.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { noteD1 } from '../support/d1-restore.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, readGate, tamper } from '../support/gate.ts';
import { sellerOn } from '../support/worlds.ts';

// What a gate knows of a license that a restored D1 has lost ends with it. Nobody could erase it later, because nothing tells any
// more whose it was.

const MACHINE = { fingerprint: 'machine-0001', name: 'Mainframe of the admiral' };

beforeEach(() => useFakeClock());

const runAlarms = async (accountId: string) => {
  for (let i = 0; i < 2; i++) {
    vi.advanceTimersByTime(HOUR_MS);
    await runDurableObjectAlarm(gate(accountId));
  }
};

const sellerWithMachines = async (...licenseKeys: string[]) => {
  const ada = await sellerOn('scale');
  const activate = async (license_key: string) => {
    const { body } = await ada.asKey('POST', '/api/v1/licenses/activate', { ...MACHINE, license_key });
    expect(body.code).toBe('valid');
  };
  const sell = async (license_key: string) => {
    const { id }: { id: string } = await ada.createLicense({ license_key, terms: { max_activations: 1 } });
    await activate(license_key);
    return id;
  };
  const kept = await sell('BOUGHT-BEFORE');
  const restoreD1 = await noteD1(ada.accountId);
  vi.advanceTimersByTime(60_000);
  for (const licenseKey of licenseKeys) await sell(licenseKey);
  const restore = async () => {
    await restoreD1();
    vi.advanceTimersByTime(60_000);
  };
  /** Changes the account, so that its gate notices the restore. */
  const load = async () => {
    await ada.createLicense();
    await runAlarms(ada.accountId);
  };
  const licensesWithMachines = async () =>
    (await readGate<{ id: string }>(ada.accountId, 'SELECT license_id AS id FROM activations')).map(
      ({ id }) => id,
    );
  return { ada, kept, restore, load, licensesWithMachines };
};

const runAlarmsAfterwards = async (accountId: string) => {
  vi.advanceTimersByTime(ORPHAN_MS);
  await runAlarms(accountId);
};

test('the machines of a license that D1 still lacks after 14 days are gone with it', async () => {
  const { ada, kept, restore, load, licensesWithMachines } = await sellerWithMachines('BOUGHT-SINCE');
  await restore();
  await load();
  vi.advanceTimersByTime(ORPHAN_MS - DAY_MS);
  await runAlarms(ada.accountId);
  expect(await licensesWithMachines()).toHaveLength(2);
  vi.advanceTimersByTime(DAY_MS);
  await runAlarms(ada.accountId);
  expect((await ada.verify('BOUGHT-SINCE')).body.status).toBe('not_found');
  expect(await licensesWithMachines()).toEqual([kept]);
  expect(await readGate(ada.accountId, 'SELECT DISTINCT license_id FROM seat_changes')).toEqual([
    { license_id: kept },
  ]);
});

test('the machines of what D1 has lost are gone once an operator says that D1 is right', async () => {
  const { ada, kept, restore, licensesWithMachines } = await sellerWithMachines(
    'BOUGHT-SINCE',
    'BOUGHT-LAST',
  );
  await restore();
  await gate(ada.accountId).orphans(true);
  await runAlarms(ada.accountId);
  expect((await ada.verify('BOUGHT-SINCE')).body.status).toBe('not_found');
  expect(await licensesWithMachines()).toEqual([kept]);
});

test('a license that the seller makes again has machines of its own, and those of the lost one are gone', async () => {
  const again = ['MADE-AGAIN', 'MADE-AGAIN-LATER'];
  const { ada, kept, restore, load, licensesWithMachines } = await sellerWithMachines(...again);
  await restore();
  // Before the gate has loaded its copy again, and afterwards.
  await ada.createLicense({ license_key: 'MADE-AGAIN' });
  await load();
  expect(await licensesWithMachines()).toHaveLength(2);
  await ada.createLicense({ license_key: 'MADE-AGAIN-LATER' });
  await runAlarmsAfterwards(ada.accountId);
  expect(await licensesWithMachines()).toEqual([kept]);
});

test('a license that D1 has under its earlier key keeps its machines', async () => {
  const { ada, kept, restore, load, licensesWithMachines } = await sellerWithMachines('BOUGHT-SINCE');
  await ada.asSession('POST', `/api/v1/licenses/${kept}/rotate-key`, { license_key: 'NEW-AND-SECRET' });
  await restore();
  await load();
  await runAlarmsAfterwards(ada.accountId);
  for (const licenseKey of ['BOUGHT-BEFORE', 'NEW-AND-SECRET'])
    expect((await ada.verify(licenseKey)).body.status).toBe('not_found');
  expect(await licensesWithMachines()).toEqual([kept]);
});

test('a license that D1 has under its earlier key keeps its machines when another gets its later key', async () => {
  const { ada, kept, restore, load, licensesWithMachines } = await sellerWithMachines();
  await ada.asSession('POST', `/api/v1/licenses/${kept}/rotate-key`, { license_key: 'NEW-AND-SECRET' });
  await restore();
  await load();
  await ada.createLicense({ license_key: 'NEW-AND-SECRET' });
  expect(await licensesWithMachines()).toEqual([kept]);
  await runAlarmsAfterwards(ada.accountId);
  await ada.asSession('PATCH', `/api/v1/licenses/${kept}`, { customer_email: 'other@example.com' });
  const { body } = await ada.asKey('POST', '/api/v1/licenses/verify', {
    license_key: 'BOUGHT-BEFORE',
    fingerprint: MACHINE.fingerprint,
  });
  expect(body.activation).toMatchObject({ name: MACHINE.name });
});

/** D1 has lost more licenses than are compared at once. */
const sellerWithMany = async () => {
  const seller = await sellerWithMachines('A-LOST-ONE', 'Z-LOST-ONE');
  const { accountId } = seller.ada;
  await tamper(
    accountId,
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 25000)
     INSERT INTO licenses (license_key, id, status, customer_email, terms)
     SELECT printf('LOST-%06d', n), printf('lic_%020d', n), 'active', 'x@example.com', '{}' FROM numbers`,
  );
  await seller.restore();
  await seller.load();
  await runAlarms(accountId);
  expect((await gate(accountId).orphans()).total).toBe(25_002);
  return seller;
};

/** Counts the licenses whose machines the gate erases. */
const countErased = async (accountId: string) => {
  let erased = 0;
  await runInDurableObject(gate(accountId), (_gate, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql);
    Object.assign(sql, {
      exec: (query: string, ...bindings: unknown[]) => {
        if (query.startsWith('DELETE FROM seat_refusals')) erased++;
        return exec(query, ...bindings);
      },
    });
  });
  return () => erased;
};

test('what ends without machines costs nothing, and many with machines are erased by and by', async () => {
  const { ada, kept, licensesWithMachines } = await sellerWithMany();
  await tamper(
    ada.accountId,
    `INSERT INTO seat_changes SELECT id, 1, 0, 'taken', 'application', 'act_1', 'machine-0001', NULL
     FROM licenses WHERE license_key BETWEEN 'LOST-000001' AND 'LOST-001500'`,
  );
  vi.advanceTimersByTime(ORPHAN_MS);
  const erased = await countErased(ada.accountId);
  const atOnce: number[] = [];
  for (let i = 0; i < 10; i++) {
    const before = erased();
    vi.advanceTimersByTime(HOUR_MS);
    await runDurableObjectAlarm(gate(ada.accountId));
    atOnce.push(erased() - before);
  }
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(1_000);
  expect(erased()).toBe(1_502);
  expect(await licensesWithMachines()).toEqual([kept]);
  expect(await readGate(ada.accountId, 'SELECT DISTINCT license_id AS id FROM seat_changes')).toEqual([
    { id: kept },
  ]);
});

test('of more licenses than are compared at once, the machines of those that have ended are gone', async () => {
  const { ada, kept, licensesWithMachines } = await sellerWithMany();
  expect(await licensesWithMachines()).toHaveLength(3);
  await runAlarmsAfterwards(ada.accountId);
  await runAlarms(ada.accountId);
  expect((await gate(ada.accountId).orphans()).total).toBe(0);
  expect((await ada.verify('LOST-010001')).body.status).toBe('not_found');
  expect(await licensesWithMachines()).toEqual([kept]);
});

test('a license whose time ends while the copies are compared is given up by the next load', async () => {
  const { ada, kept, licensesWithMachines } = await sellerWithMany();
  const { accountId } = ada;
  const setEnd = (licenseKey: string, inMs: number) =>
    tamper(accountId, `UPDATE orphans SET until_ms = ${Date.now() + inMs} WHERE ref = '${licenseKey}'`);
  await setEnd('Z-LOST-ONE', 0);
  // The first page is compared in two hours, and the last one in four.
  await setEnd('A-LOST-ONE', 3 * HOUR_MS);
  for (let i = 0; i < 2; i++) await runAlarms(accountId);
  expect((await ada.verify('Z-LOST-ONE')).body.status).toBe('not_found');
  expect((await ada.verify('A-LOST-ONE')).body.status).toBe('active');
  expect((await gate(accountId).orphans()).total).toBe(25_001);
  for (let i = 0; i < 2; i++) await runAlarms(accountId);
  expect((await ada.verify('A-LOST-ONE')).body.status).toBe('not_found');
  expect(await licensesWithMachines()).toEqual([kept]);
});
