import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import { leaseMarginMs, renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { type Settings, settingsOf } from '../../../src/shared/config/settings.ts';
import { LEASE_MS, OPEN_AFTER_CALLS, type Region } from '../../../src/shared/rules/regions.ts';
import { WebhookOutbox } from '../../../src/webhooks/webhook-outbox.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate, kill, readGate, setUsage, statistics } from '../../support/gate.ts';
import { addEndpoint, readEvents } from '../../support/outbox.ts';
import { newReceiver } from '../../support/receiver.ts';
import { branch, openBranch, setHome, verifyAtHome, verifyIn } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';

let ada: Customer;
let licenseKey: string;
let licenseId: string;

beforeEach(async () => {
  useFakeClock();
  ({ ada, licenseKey, licenseId } = await sellerAtHome('scale'));
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Restarts home with other settings, as a deployment does. */
const deploy = async (changes: Partial<Settings>) => {
  await runInDurableObject(gate(ada.accountId), (home) => {
    const settings = settingsOf(Reflect.get(home, 'env'));
    for (const [name, value] of Object.entries(changes))
      vi.spyOn(settings, name as keyof Settings, 'get').mockReturnValue(value);
  });
  await kill(ada.accountId);
};

const openRegions = async () =>
  (await readGate<{ region: Region }>(ada.accountId, 'SELECT region FROM branches')).map(
    ({ region }) => region,
  );

const usage = async () => (await statistics(ada.accountId)).apiUsage;

const suspend = () => ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`);

/** Cuts branches off from home, in both directions. */
const cutOff = () => {
  const lost = new Error('The network is cut.');
  const cuts = [
    vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(lost),
    ...(['renew', 'forward', 'close'] as const).map((method) =>
      vi.spyOn(AccountGate.prototype, method).mockImplementation(() => {
        throw lost;
      }),
    ),
  ];
  return () => {
    for (const cut of cuts) cut.mockRestore();
  };
};

test('switching regions off closes open branches without losing a count or an event', async () => {
  await addEndpoint(ada, (await newReceiver()).url);
  for (const region of ['oc', 'weur'] as const) {
    await openBranch(region, ada, licenseKey);
    await verifyIn(region, ada, licenseKey);
  }
  const accept = vi.spyOn(WebhookOutbox.prototype, 'accept').mockRejectedValue(new Error('Unavailable.'));
  const before = await usage();
  for (let i = 0; i < 3; i++) expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
  await deploy({ hasRegions: false });
  // The first call of any kind starts home, which closes its branches.
  await verifyAtHome('oc', ada, licenseKey);
  await expect.poll(openRegions).toEqual([]);
  expect(await usage()).toBe(before + 4);
  for (let i = 0; i < OPEN_AFTER_CALLS; i++) await verifyAtHome('oc', ada, licenseKey);
  expect(await openRegions()).toEqual([]);
  expect((await suspend()).body.status).toBe('suspended');
  // A Worker of the other release may still turn to the branch.
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({
    region: 'enam',
    verdict: { status: 'suspended' },
  });
  accept.mockRestore();
  for (const region of ['oc', 'weur'] as const) await runDurableObjectAlarm(branch(ada.accountId, region));
  await runDurableObjectAlarm(gate(ada.accountId));
  const verified = async () =>
    (await readEvents(ada.accountId)).filter(({ name }) => name === 'license.verified').length;
  // All verifies but those of the suspended license.
  await expect.poll(verified).toBe(before + 4 + OPEN_AFTER_CALLS);

  await deploy({ hasRegions: true });
  await ada.asSession('POST', `/api/v1/licenses/${licenseId}/reinstate`);
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc', branch: 'oc' });
});

test('with regions off, a change waits for a branch that is cut off until its lease ends, and its grant counts as spent until it returns', async () => {
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit - 30);
  for (let i = 0; i < 2; i++) expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
  const heal = cutOff();
  await deploy({ hasRegions: false });
  const suspended = suspend();
  await expect
    .poll(() => verifyAtHome('enam', ada, licenseKey))
    .toMatchObject({ verdict: { status: 'suspended' } });
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({
    region: 'oc',
    verdict: { status: 'active' },
  });
  vi.advanceTimersByTime(LEASE_MS);
  expect((await suspended).status).toBe(200);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ refused: 'unavailable' });
  while ((await verifyAtHome('enam', ada, licenseKey)).refused === null);
  expect(await verifyAtHome('enam', ada, licenseKey)).toMatchObject({ refused: 'usage_limit_exceeded' });
  expect(await usage()).toBeLessThan(apiLimit);
  expect(await openRegions()).toEqual(['oc']);

  heal();
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  expect(await openRegions()).toEqual([]);
  while ((await verifyAtHome('enam', ada, licenseKey)).refused === null);
  expect(await usage()).toBe(apiLimit);
});

test('a branch in the region to which home has moved closes', async () => {
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  await setHome(ada.accountId, 'oc');
  await gate(ada.accountId).pull();
  await expect.poll(openRegions).toEqual([]);
});

test('home sets the length of leases and how many calls open a branch', async () => {
  await deploy({ leaseMs: 5_000, openAfterCalls: 2 });
  for (let i = 0; i < 2; i++) await verifyAtHome('oc', ada, licenseKey);
  expect(await openRegions()).toEqual(['oc']);
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
  const msUntilAlarm = await runInDurableObject(
    branch(ada.accountId, 'oc'),
    async (_branch, { storage }) => ((await storage.getAlarm()) ?? Infinity) - Date.now(),
  );
  expect(msUntilAlarm).toBeLessThanOrEqual(renewAfterMs(5_000));
  vi.advanceTimersByTime(5_000 - leaseMarginMs(5_000));
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'enam' });
});
