import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { CLOSE_AFTER_MS } from '../../../src/gate/rules/lease.ts';
import { WebhookOutbox } from '../../../src/index.ts';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import type { Customer, Json } from '../../support/client.ts';
import { d1Of } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate, readGate } from '../../support/gate.ts';
import { contentOf } from '../../support/leftovers.ts';
import { branch, callFrom, openBranch, verifyAtHome, verifyIn } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sellerAtHome } from '../../support/worlds.ts';

const NAME = 'Mainframe of the admiral';

let ada: Customer;
let licenseKey: string;

beforeEach(async () => {
  useFakeClock();
  ({ ada, licenseKey } = await sellerAtHome('scale'));
  await openBranch('oc', ada, licenseKey);
  // The branch copies the license.
  await verifyIn('oc', ada, licenseKey);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** A license of a customer, with a machine that has a name, both of which the branch has copies of. */
const copiedLicense = async (customer_email: string) => {
  const license: Json = await ada.createLicense({ customer_email, terms: { max_activations: 1 } });
  const machine = { license_key: license.license_key, fingerprint: 'machine-0001', name: NAME };
  await callFrom('oc', ada, 'activate', machine);
  await waitUntil(
    () => callFrom('oc', ada, 'verify', machine),
    ({ region }) => region === 'oc',
  );
  expect(await leftInBranch(NAME)).toBe(true);
  return license;
};

const leftInBranch = async (text: string) =>
  JSON.stringify([...(await contentOf(branch(ada.accountId, 'oc')))]).includes(text);

/** Records the branches that are woken to erase something. */
const watchErasures = () => vi.spyOn(GateBranch.prototype, 'eraseTraces');

test('a deleted license leaves the open branches, which keep all others, and wakes no region without a branch', async () => {
  const { id, license_key: deleted } = await copiedLicense('grace@hopper.example');
  const woken = watchErasures();
  expect((await ada.asSession('DELETE', `/api/v1/licenses/${id}`)).status).toBe(200);
  expect(woken).toHaveBeenCalledOnce();
  for (const text of [deleted, id, NAME]) expect(await leftInBranch(text)).toBe(false);
  expect(await readGate(ada.accountId, 'SELECT kind, ref FROM branch_log')).toEqual([
    { kind: 'all', ref: '' },
  ]);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
});

test('an erased customer’s machines leave the open branches, which keep all other licenses', async () => {
  await copiedLicense('grace@hopper.example');
  const woken = watchErasures();
  const { body } = await ada.asSession('POST', '/api/erase-customer', {
    customer_email: 'grace@hopper.example',
  });
  expect(body).toMatchObject({ licenses: 1, activations: 1 });
  expect(woken).toHaveBeenCalledOnce();
  expect(await leftInBranch(NAME)).toBe(false);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
});

test('a branch that home has given up is woken once, to drop its copies', async () => {
  const { id } = await copiedLicense('grace@hopper.example');
  vi.advanceTimersByTime(DAY_MS + LEASE_MS);
  const woken = watchErasures();
  await ada.asSession('DELETE', `/api/v1/licenses/${id}`);
  expect(await readGate(ada.accountId, 'SELECT region FROM branches')).toEqual([]);
  expect(woken).toHaveBeenCalledOnce();
  expect(await leftInBranch(NAME)).toBe(false);
  const other: Json = await ada.createLicense();
  await ada.asSession('DELETE', `/api/v1/licenses/${other.id}`);
  expect(woken).toHaveBeenCalledOnce();
});

test('a branch drops its copies once home has loaded its own again, also if that was during an erasure', async () => {
  const [{ id }, { license_key: other }] = [await ada.createLicense(), await ada.createLicense()];
  await verifyIn('oc', ada, other);
  const held = { isReached: false, isReleased: false };
  const eraseTraces = Reflect.get(GateBranch.prototype, 'eraseTraces');
  vi.spyOn(GateBranch.prototype, 'eraseTraces').mockImplementation(async function (
    this: GateBranch,
    isTold?: boolean,
  ) {
    held.isReached = true;
    while (!held.isReleased) await scheduler.wait(5);
    return eraseTraces.call(this, isTold);
  });
  const deleted = ada.asSession('DELETE', `/api/v1/licenses/${id}`);
  await waitUntil(() => held.isReached);

  // D1 was restored, of which no row of the feed tells.
  await d1Of('licenses')
    .prepare("UPDATE licenses SET expires_at = '2020-01-01' WHERE license_key = ?")
    .bind(licenseKey)
    .run();
  vi.spyOn(Math, 'random').mockReturnValue(0);
  await gate(ada.accountId).orphans(true);
  await waitUntil(
    async () => {
      vi.setSystemTime(Date.now() + 1_500);
      await runDurableObjectAlarm(gate(ada.accountId));
      return verifyAtHome('enam', ada, licenseKey);
    },
    (reply) => 'verdict' in reply && reply.verdict.status === 'expired',
  );
  held.isReleased = true;
  expect((await deleted).status).toBe(200);

  vi.setSystemTime(Date.now() + LEASE_MS);
  // Calls for another license renew the lease.
  await waitUntil(
    () => verifyIn('oc', ada, other),
    ({ branch: answeredBy }) => answeredBy === 'oc',
  );
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'expired' } });
});

test('a branch that closes before the outbox has its events is woken by the next erasure, which waits for them', async () => {
  const { id } = await ada.createLicense();
  const accept = vi.spyOn(WebhookOutbox.prototype, 'accept').mockRejectedValue(new Error('cut off'));
  await verifyIn('oc', ada, licenseKey);
  vi.advanceTimersByTime(CLOSE_AFTER_MS);
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  expect(await readGate(ada.accountId, 'SELECT region FROM branches')).toEqual([]);
  expect(await leftInBranch('license.verified')).toBe(true);
  accept.mockRestore();
  const woken = watchErasures();
  await ada.asSession('DELETE', `/api/v1/licenses/${id}`);
  expect(woken).toHaveBeenCalledOnce();
  expect(await leftInBranch('license.verified')).toBe(false);
});

test('an erasure waits for the events of a branch that closes meanwhile', async () => {
  const { id } = await ada.createLicense();
  const accept = vi.spyOn(WebhookOutbox.prototype, 'accept').mockRejectedValue(new Error('cut off'));
  await verifyIn('oc', ada, licenseKey);
  // Without a lease, the branch learns of the deletion only from the erasure.
  vi.advanceTimersByTime(CLOSE_AFTER_MS);
  const tell: GateBranch['tell'] = Reflect.get(GateBranch.prototype, 'tell');
  vi.spyOn(GateBranch.prototype, 'tell').mockImplementation(async function (this: GateBranch, update) {
    await this.alarm();
    accept.mockRestore();
    return tell.call(this, update);
  });
  const woken = watchErasures();
  expect((await ada.asSession('DELETE', `/api/v1/licenses/${id}`)).status).toBe(200);
  expect(await readGate(ada.accountId, 'SELECT region FROM branches')).toEqual([]);
  expect(woken).toHaveBeenCalledOnce();
  expect(await leftInBranch('license.verified')).toBe(false);
});
