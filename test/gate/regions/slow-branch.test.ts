import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { statistics } from '../../support/gate.ts';
import { addEndpoint, readEvents } from '../../support/outbox.ts';
import { branch, openBranch, presentedKey, verifyFrom } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sellerAtHome } from '../../support/worlds.ts';

// A branch that answers after the Worker has asked home.

let ada: Customer;
let licenseKey: string;

beforeEach(async () => {
  useFakeClock();
  ({ ada, licenseKey } = await sellerAtHome('scale'));
  await addEndpoint(ada, 'http://127.0.0.1:9/nobody');
  await openBranch('oc', ada, licenseKey);
  for (let i = 0; i < 2; i++) await verifyFrom('oc', ada, licenseKey);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Lets the branch report everything. */
const report = async () => {
  for (let i = 0; i < 2; i++) {
    vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
    await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  }
};

/** Returns the usage and the number of events, which reach the outbox a little later. */
const counted = async () => {
  const { apiUsage } = await statistics(ada.accountId);
  const events = await readEvents(ada.accountId);
  return [apiUsage, events.filter(({ name }) => name === 'license.verified').length] as const;
};

type Verify = (
  this: GateBranch,
  ...args: Parameters<GateBranch['verify']>
) => ReturnType<GateBranch['verify']>;

test.for<[string, (verify: Verify) => Verify]>([
  [
    'has counted a call',
    (verify) =>
      async function (...args) {
        const reply = await verify.apply(this, args);
        await scheduler.wait(3_300);
        return reply;
      },
  ],
  [
    'gets a call after home has answered it',
    (verify) =>
      async function (...args) {
        await scheduler.wait(3_300);
        return verify.apply(this, args);
      },
  ],
])('a call counts once, and has one event, if a slow branch %s', async ([, slow]) => {
  await report();
  const [usageBefore, eventsBefore] = await waitUntil(counted, ([usage, events]) => events === usage);
  const verify = Reflect.get(GateBranch.prototype, 'verify');
  const slowed = vi.spyOn(GateBranch.prototype, 'verify').mockImplementationOnce(slow(verify));
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ region: 'enam', body: { valid: true } });
  await Promise.allSettled(slowed.mock.results.map(({ value }) => value as Promise<unknown>));
  await report();
  await waitUntil(counted, ([, events]) => events > eventsBefore);
  await report();
  expect(await counted()).toEqual([usageBefore + 1, eventsBefore + 1]);
});

test('a call that home leaves to a slow branch is on the branch’s disk', async () => {
  await report();
  const claimed = await runInDurableObject(
    branch(ada.accountId, 'oc'),
    async (instance: GateBranch, state) => {
      const verify = (callId: string) => instance.verify(presentedKey(ada), licenseKey, callId, true);
      // While the first call is on its way to the disk, the others wait for the next commit.
      const calls = ['first', 'second'].map(verify);
      const isCounted = instance.claim('second');
      const [stored] = state.storage.sql.exec<{ calls: string }>('SELECT calls FROM recent_counters');
      await Promise.all(calls);
      return [isCounted, stored?.calls.includes('second')];
    },
  );
  expect(claimed).toEqual([true, true]);
});
