import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { noteD1 } from '../support/d1-restore.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, raiseEpoch, readGate, tamper } from '../support/gate.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { sellerOn } from '../support/worlds.ts';

// D1 is restored to an earlier time, and has lost licenses that the gate still has. A customer of one of them is erased.

const ANN = 'ann@lost.example';
const MACHINE = { license_key: 'BOUGHT-BY-ANN', fingerprint: 'machine-of-ann', name: 'Mainframe of Ann' };
const OTHERS = { license_key: 'OF-ANOTHER', fingerprint: 'machine-of-ann', name: 'Mainframe of another' };

beforeEach(() => useFakeClock());

/** Lets the gate load its copy again. */
const runAlarms = async (accountId: string) => {
  for (let i = 0; i < 2; i++) {
    vi.advanceTimersByTime(HOUR_MS);
    await runDurableObjectAlarm(gate(accountId));
  }
};

/** The gate begins to load its copy again with its next alarm. */
const beginReload = async (accountId: string) => {
  await raiseEpoch(accountId);
  await gate(accountId).movingTo();
};

/** A seller whose D1 has lost a license of Ann and one that names her, of which the gate doesn't know yet. */
const sellerAfterRestore = async () => {
  const ada = await sellerOn('scale');
  const restoreD1 = await noteD1(ada.accountId);
  vi.advanceTimersByTime(60_000);
  const terms = { max_activations: 1, entitlements: { for: 'Ask Ann@Lost.example' } };
  await ada.createLicense({ license_key: 'BOUGHT-BY-ANN', customer_email: ANN, terms });
  await ada.createLicense({ license_key: 'OF-ANOTHER', terms });
  for (const machine of [MACHINE, OTHERS])
    expect((await ada.asKey('POST', '/api/v1/licenses/activate', machine)).body.code).toBe('valid');
  await restoreD1();
  vi.advanceTimersByTime(60_000);
  const erase = async () => {
    const { body } = await ada.asSession('POST', '/api/erase-customer', { customer_email: ANN });
    expect(body).toMatchObject({ licenses: 0, activations: 1 });
    return findLeftovers(ada.accountId, [ANN, MACHINE.name]);
  };
  return { ada, erase };
};

test('a customer who is erased before the gate loads its copy again is in none of its licenses afterwards', async () => {
  const { ada, erase } = await sellerAfterRestore();
  await beginReload(ada.accountId);
  expect(await erase()).toEqual([]);
  await runAlarms(ada.accountId);
  expect(await findLeftovers(ada.accountId, [ANN])).toEqual([]);
  expect((await ada.verify('BOUGHT-BY-ANN')).body.status).toBe('active');
});

test('a customer whose erasure lets the gate notice the restore is in none of its licenses afterwards', async () => {
  const { ada, erase } = await sellerAfterRestore();
  expect(await erase()).toEqual([]);
  await runAlarms(ada.accountId);
  expect(await findLeftovers(ada.accountId, [ANN])).toEqual([]);
  expect((await ada.verify('BOUGHT-BY-ANN')).body.status).toBe('active');
});

test('a customer who is erased while the gate compares its copies is in neither', async () => {
  const { ada, erase } = await sellerAfterRestore();
  // More licenses than are compared at once, on both sides of Ann's.
  await tamper(
    ada.accountId,
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 25000)
     INSERT INTO licenses (license_key, id, status, customer_email, terms)
     SELECT printf(iif(n < 5000, 'A-%06d', 'LOST-%06d'), n), printf('lic_%020d', n), 'active',
       iif(n = 20000, 'ann@lost.example', 'x@example.com'), '{}' FROM numbers`,
  );
  await beginReload(ada.accountId);
  await runAlarms(ada.accountId);
  expect((await gate(ada.accountId).orphans()).total).toBeGreaterThan(0);
  expect(await erase()).toEqual([]);
  for (let i = 0; i < 2; i++) await runAlarms(ada.accountId);
  expect(await findLeftovers(ada.accountId, [ANN])).toEqual([]);
  for (const licenseKey of ['BOUGHT-BY-ANN', 'LOST-020000'])
    expect((await ada.verify(licenseKey)).body.status).toBe('active');
});

test('the machines of an erased customer have no names in a license that D1 has lost, and keep their seats', async () => {
  const { ada, erase } = await sellerAfterRestore();
  await beginReload(ada.accountId);
  await runAlarms(ada.accountId);
  expect(await findLeftovers(ada.accountId, [MACHINE.name])).toContain('gate 1: activations');
  expect(await erase()).toEqual([]);
  expect(await findLeftovers(ada.accountId, [OTHERS.name])).toContain('gate 1: activations');
  expect((await ada.verify('BOUGHT-BY-ANN')).body.status).toBe('active');
  expect(
    await readGate(ada.accountId, 'SELECT name, released_at_ms FROM activations ORDER BY license_id'),
  ).toEqual([
    { name: null, released_at_ms: null },
    { name: OTHERS.name, released_at_ms: null },
  ]);
});
