import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { grantPlan } from '../../../src/operators/accounts.ts';
import { PLANS } from '../../../src/shared/rules/plans.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import type { Customer } from '../../support/client.ts';
import { ctxOf } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { setUsage, statistics } from '../../support/gate.ts';
import { branch, openBranch, verifyIn } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';

// An operator's grant of a plan ends at a time, without a change that anybody is told of.

const BRANCHES = ['oc', 'weur'] as const;
const FREE_LIMIT = PLANS.free.apiLimit;

// These tests are about the usage limit only.
for (const plan of [PLANS.free, PLANS.scale])
  Object.assign(plan, { callsPerSecond: 1e6, accountCallsPerSecond: 1e6 });

let ada: Customer;
let licenseKey: string;
let untilMs: number;

/** Lets the branches get leases and grants until shortly before the plan ends. */
const liveUntilTheEnd = async () => {
  while (Date.now() < untilMs - 5_000) {
    vi.setSystemTime(Math.min(Date.now() + renewAfterMs(LEASE_MS), untilMs - 5_000));
    for (const region of BRANCHES) {
      await runDurableObjectAlarm(branch(ada.accountId, region));
      await verifyIn(region, ada, licenseKey);
    }
  }
};

/** Returns how many calls are admitted after the plan's end, within leases from before it. */
const admittedAfterTheEnd = async (calls: number) => {
  vi.setSystemTime(untilMs + 1_000);
  let admitted = 0;
  for (let i = 0; i < calls; i++) {
    const { refused } = await verifyIn(BRANCHES[i % 2] ?? 'oc', ada, licenseKey);
    if (refused === null) admitted++;
  }
  return admitted;
};

beforeEach(async () => {
  useFakeClock();
  ({ ada, licenseKey } = await sellerAtHome('free'));
  untilMs = Date.now() + 200_000;
  await grantPlan(ctxOf(ada.accountId), 'scale', untilMs);
  for (const region of BRANCHES) {
    await openBranch(region, ada, licenseKey);
    await verifyIn(region, ada, licenseKey);
  }
});

test('branches answer no call beyond the limit of the plan that is left', async () => {
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc', apiLimit: 5_000_000 });
  await setUsage(ada.accountId, 2 * FREE_LIMIT);
  await liveUntilTheEnd();
  expect(await admittedAfterTheEnd(30)).toBe(0);
});

test('two branches admit together what the plan that is left allows, and not a call more', async () => {
  await setUsage(ada.accountId, FREE_LIMIT - 40);
  await liveUntilTheEnd();
  expect((await statistics(ada.accountId)).apiUsage).toBeLessThan(FREE_LIMIT - 5);
  expect(await admittedAfterTheEnd(60)).toBeGreaterThan(0);
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  for (const region of BRANCHES) await runDurableObjectAlarm(branch(ada.accountId, region));
  expect((await statistics(ada.accountId)).apiUsage).toBe(FREE_LIMIT);
});
