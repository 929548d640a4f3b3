import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { PLANS } from '../../../src/shared/rules/plans.ts';
import { LEASE_MS, type Region } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { readGate, statistics } from '../../support/gate.ts';
import { simulateNetwork, waitPatiently } from '../../support/network.ts';
import { branch, openBranch, verifyFrom } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sellerAtHome } from '../../support/worlds.ts';

/** The regions of the callers. */
const CALLERS = ['enam', 'oc', 'weur', 'apac-ne'] as const;
/** Has an open branch, and calls only at first. */
const IDLE: Region = 'wnam';
const BRANCHES = ['oc', 'weur', 'apac-ne', IDLE] as const;
/** Few enough that no call takes longer than the branches and the Worker wait. */
const CONNECTIONS = 32;

// These tests are about the usage limit only.
Object.assign(PLANS.scale, { callsPerSecond: 1e6, accountCallsPerSecond: 1e6 });
const { apiLimit } = PLANS.scale;

let ada: Customer;
let licenseKey: string;

const verifyMany = async (region: Region, count: number): Promise<string[]> => {
  const outcomes: string[] = [];
  let started = 0;
  const connection = async () => {
    while (started++ < count) {
      const { status, body } = await verifyFrom(region, ada, licenseKey);
      outcomes.push(status === 200 ? 'admitted' : (body.error as { code: string }).code);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return outcomes;
};

const verifyFromAll = async (callsPerRegion: number) => {
  const outcomes = await Promise.all(CALLERS.map((region) => verifyMany(region, callsPerRegion)));
  return Object.entries(Object.groupBy(outcomes.flat(), (outcome) => outcome)).map(
    ([outcome, calls = []]) => [outcome, calls.length] as const,
  );
};

const renewAll = async () => {
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  for (const region of BRANCHES) await runDurableObjectAlarm(branch(ada.accountId, region));
};

/** Returns the calls that home has granted a branch and not got back. */
const granted = async (region: Region): Promise<number> => {
  const query = `SELECT state FROM branches WHERE region = '${region}'`;
  const [row] = await readGate<{ state: string }>(ada.accountId, query);
  const { escrows } = JSON.parse(row?.state ?? '') as {
    escrows: { granted: number; spent: number; returned: number }[];
  };
  return escrows.reduce((sum, escrow) => sum + escrow.granted - escrow.spent - escrow.returned, 0);
};

/** Lets branches hold grants and leaves a number of calls, the grants among them. */
const leaveCalls = async (count: number) => {
  // Two renewals: the second one reports all calls of before.
  await renewAll();
  await renewAll();
  PLANS.scale.apiLimit = (await statistics(ada.accountId)).apiUsage + count;
  for (const region of BRANCHES) expect(await granted(region)).toBeGreaterThan(10);
};

const useBranches = async () => {
  for (const region of BRANCHES) {
    await openBranch(region, ada, licenseKey);
    // The Worker learns of the branch, and the branch of the license.
    for (let i = 0; i < 2; i++) await verifyFrom(region, ada, licenseKey);
    expect(await verifyFrom(region, ada, licenseKey)).toMatchObject({ region });
  }
};

beforeEach(async () => {
  useFakeClock();
  waitPatiently();
  ({ ada, licenseKey } = await sellerAtHome('scale'));
  await useBranches();
});

afterEach(() => {
  vi.restoreAllMocks();
  PLANS.scale.apiLimit = apiLimit;
});

test('400 verifies from four regions admit exactly the 100 that are left, those that an idle branch held among them', async () => {
  await leaveCalls(100);
  simulateNetwork('enam');
  expect(await verifyFromAll(100)).toEqual([
    ['admitted', 100],
    ['usage_limit_exceeded', 300],
  ]);
  for (const region of [...CALLERS, IDLE])
    expect(await verifyMany(region, 1)).toEqual(['usage_limit_exceeded']);
  expect(await statistics(ada.accountId)).toMatchObject({ apiUsage: PLANS.scale.apiLimit });
});

test('the limit holds while a branch that holds a grant is cut off, and the rest is admitted afterwards', async () => {
  await leaveCalls(100);
  const heldBack = await granted(IDLE);
  const { cut } = simulateNetwork('enam');
  cut.add(IDLE);
  expect(await verifyFromAll(50)).toEqual([
    ['admitted', 100 - heldBack],
    ['usage_limit_exceeded', 100 + heldBack],
  ]);
  vi.advanceTimersByTime(LEASE_MS);
  cut.clear();
  // Home asks a branch without a lease for its calls, too, but refuses calls until it answers.
  await waitUntil(
    () => verifyMany('oc', 1),
    ([outcome]) => outcome === 'admitted',
  );
  expect(await verifyMany('oc', heldBack)).toEqual([
    ...Array(heldBack - 1).fill('admitted'),
    'usage_limit_exceeded',
  ]);
  expect(await statistics(ada.accountId)).toMatchObject({ apiUsage: PLANS.scale.apiLimit });
});
