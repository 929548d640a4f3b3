import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { RATE_WINDOW_MS } from '../../../src/shared/rules/rate.ts';
import { LEASE_MS, OPEN_AFTER_CALLS } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { kill, readGate, setPlan, setUsage, statistics } from '../../support/gate.ts';
import { waitPatiently } from '../../support/network.ts';
import { callFrom, killBranch, openBranch, setHome, verifyAtHome, verifyIn } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';

let ada: Customer;
let licenseKey: string;
let licenseId: string;

beforeEach(async () => {
  useFakeClock();
  waitPatiently();
  ({ ada, licenseKey, licenseId } = await sellerAtHome('pro'));
});

afterEach(() => {
  vi.restoreAllMocks();
});

const suspend = () => ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`);

/** Cuts the branches off from home's messages. */
const cutOff = () =>
  vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The branch is cut off.'));

const isDone = async (work: Promise<unknown>, ms: number) =>
  Promise.race([work.then(() => true), scheduler.wait(ms).then(() => false)]);

test('a change waits for a branch that is cut off, and no longer than for its lease', async () => {
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  cutOff();
  const suspended = suspend();
  expect(await isDone(suspended, 300)).toBe(false);
  // The branch doesn't know better, and the change isn't answered yet.
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'active' } });
  vi.advanceTimersByTime(LEASE_MS);
  expect((await suspended).status).toBe(200);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'suspended' } });
});

test('a restarted home waits with a change for a branch that may be leased', async () => {
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  cutOff();
  const suspended = suspend();
  expect(await isDone(suspended, 300)).toBe(false);
  // The Worker repeats the call, which finds the change applied.
  await kill(ada.accountId);
  expect(await isDone(suspended, 300)).toBe(false);
  vi.advanceTimersByTime(LEASE_MS);
  expect((await suspended).status).toBe(200);
});

test('a new license and a new API key don’t wait for branches', async () => {
  await openBranch('oc', ada, licenseKey);
  cutOff();
  expect((await ada.createLicense()).id).toMatch(/^lic_/);
  expect((await ada.asSession('POST', '/api/create-api-key', {})).status).toBe(201);
  // Branches don't have them, so an import doesn't push other changes out of the log.
  expect(await readGate(ada.accountId, 'SELECT * FROM branch_log')).toEqual([]);
});

test('a home without branches writes nothing about them', async () => {
  await suspend();
  await verifyAtHome('oc', ada, licenseKey);
  expect(await readGate(ada.accountId, 'SELECT * FROM branch_facts')).toEqual([]);
  expect(await readGate(ada.accountId, 'SELECT * FROM branch_log')).toEqual([]);
});

test('calls that a branch could not answer open none', async () => {
  const terms = { max_activations: 1, lease_seconds: 3_600 };
  await ada.asSession('PUT', '/api/v1/products/orrery', { terms });
  const { license_key: floating } = await ada.createLicense({ product: 'orrery' });
  for (let i = 0; i < OPEN_AFTER_CALLS; i++) {
    await verifyAtHome('oc', ada, 'UNKNOWN-KEY');
    for (const call of ['activate', 'verify'] as const)
      await callFrom('oc', ada, call, { license_key: floating, fingerprint: 'machine-0001' });
  }
  expect(await readGate(ada.accountId, 'SELECT * FROM branches')).toEqual([]);
});

test('home’s own region and its neighbor have no branch', async () => {
  await setHome(ada.accountId, 'eeur');
  for (const region of ['eeur', 'weur'] as const)
    for (let i = 0; i < OPEN_AFTER_CALLS; i++) await verifyAtHome(region, ada, licenseKey);
  expect(await readGate(ada.accountId, 'SELECT * FROM branches')).toEqual([]);
});

test('home calls grants back before it refuses a call', async () => {
  await openBranch('oc', ada, licenseKey);
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit - 10);
  for (let i = 0; i < 10; i++) expect(await verifyAtHome('enam', ada, licenseKey)).toHaveProperty('verdict');
  expect(await verifyAtHome('enam', ada, licenseKey)).toMatchObject({ refused: 'usage_limit_exceeded' });
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ refused: 'usage_limit_exceeded' });
});

test('home and three branches admit exactly the calls that are left', async () => {
  await setPlan(ada.accountId, 'scale');
  const regions = ['oc', 'weur', 'apac-ne'] as const;
  for (const region of regions) {
    await openBranch(region, ada, licenseKey);
    await verifyIn(region, ada, licenseKey);
  }
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit - 200);
  const held = async () => {
    const rows = await readGate<{ state: string }>(ada.accountId, 'SELECT state FROM branches');
    return rows.flatMap(({ state }) => JSON.parse(state).escrows as { granted: number; returned: number }[]);
  };
  expect((await held()).some(({ granted, returned }) => granted > returned)).toBe(true);
  const { apiUsage } = await statistics(ada.accountId);
  const left = apiLimit - apiUsage;
  const answers: { refused: string | null }[] = [];
  for (let round = 0; round < 10; round++) {
    // Enough time for the rate limits to recover.
    vi.advanceTimersByTime(RATE_WINDOW_MS);
    const calls = Array.from({ length: 40 }, (_, i) => {
      const region = regions[i % 4];
      return region ? verifyIn(region, ada, licenseKey) : verifyAtHome('enam', ada, licenseKey);
    });
    answers.push(...(await Promise.all(calls)));
  }
  const outcomes = answers.map(({ refused }) => refused ?? 'admitted');
  expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(left);
  expect(outcomes.filter((outcome) => outcome === 'usage_limit_exceeded')).toHaveLength(400 - left);
  for (const region of regions) await verifyIn(region, ada, licenseKey);
  expect((await statistics(ada.accountId)).apiUsage).toBe(apiLimit);
});

test('calls never pass the limit when home and branch are killed while the branch holds a grant', async () => {
  await setPlan(ada.accountId, 'scale');
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit - 100);
  const left = apiLimit - (await statistics(ada.accountId)).apiUsage;
  let admitted = 0;
  let unanswered = 0;
  const callOnce = async (isNear: boolean) => {
    try {
      const reply = await (isNear ? verifyIn('oc', ada, licenseKey) : verifyAtHome('enam', ada, licenseKey));
      if (reply.refused === null) admitted++;
    } catch {
      unanswered++;
    }
  };
  for (let round = 0; round < 6; round++) {
    vi.advanceTimersByTime(RATE_WINDOW_MS);
    const calls = Array.from({ length: 30 }, async (_, i) => {
      if (i === 15) await Promise.all([kill(ada.accountId), killBranch(ada.accountId, 'oc')]);
      return callOnce(i % 2 === 0);
    });
    await Promise.all(calls);
  }
  vi.advanceTimersByTime(LEASE_MS);
  for (let i = 0; i < left; i++) await callOnce(i % 2 === 0);
  expect(unanswered).toBeGreaterThan(0);
  expect(admitted).toBeLessThanOrEqual(left);
  expect(admitted + unanswered).toBeGreaterThanOrEqual(left);
  expect((await statistics(ada.accountId)).apiUsage).toBe(apiLimit);
});

test('home and a branch together allow no more than the rate limit', async () => {
  await setPlan(ada.accountId, 'free');
  await openBranch('oc', ada, licenseKey);
  vi.advanceTimersByTime(RATE_WINDOW_MS);
  await verifyIn('oc', ada, licenseKey);
  vi.advanceTimersByTime(RATE_WINDOW_MS);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      i % 2 === 0 ? verifyIn('oc', ada, licenseKey) : verifyAtHome('enam', ada, licenseKey),
    ),
  );
  const answeredIn = answers.filter(({ refused }) => refused === null).map(({ region }) => region);
  expect(answeredIn.length).toBeLessThanOrEqual(20);
  expect(answeredIn.length).toBeGreaterThanOrEqual(10);
  expect(new Set(answeredIn)).toEqual(new Set(['enam', 'oc']));
  // The headers name the key's limit, wherever the call was answered.
  const quotas = answers.flatMap((answer) => ('rate' in answer ? [answer.rate.quota] : []));
  expect(new Set(quotas)).toEqual(new Set([20]));
});

test('on the free plan, regions with a call every few seconds get their answers from their branches', async () => {
  await setPlan(ada.accountId, 'free');
  const regions = ['oc', 'weur'] as const;
  for (const region of regions) await openBranch(region, ada, licenseKey);
  const answeredIn = [];
  for (let round = 0; round < 20; round++) {
    vi.advanceTimersByTime(3_000);
    const replies = await Promise.all(regions.map((region) => verifyIn(region, ada, licenseKey)));
    answeredIn.push(replies.map(({ region }) => region));
  }
  // The first call brings the rows, and a share that was busy is reduced with the next renewal.
  expect(answeredIn.slice(-10)).toEqual(Array.from({ length: 10 }, () => regions));
});
