import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { type Escrow, NO_SHARE, unspent } from '../../../src/gate/rules/limits.ts';
import type { Report } from '../../../src/gate/rules/messages.ts';
import { calendarMonth } from '../../../src/gate/rules/usage.ts';
import { addMonths, DAY_MS, isoDate } from '../../../src/shared/rules/dates.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { evict, gate, readGate, setPlan, statistics } from '../../support/gate.ts';
import { openBranch, verifyIn } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';

// How home merges what its branches report.

const NOW = '2027-03-10T12:00:00.000Z';

let ada: Customer;
let licenseKey: string;
let licenseId: string;

beforeEach(async () => {
  useFakeClock(NOW);
  ({ ada, licenseKey, licenseId } = await sellerAtHome('pro'));
  await openBranch('oc', ada, licenseKey);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const records = async () => {
  const rows = await readGate<{ opening: number; state: string }>(ada.accountId, 'SELECT * FROM branches');
  return rows.map(({ state, ...row }) => ({ ...row, ...JSON.parse(state) }));
};

/** Renews the branch's lease with what it has counted. */
const renew = async (counters: Record<string, number>, calls = 0, opening = 1) => {
  const waits = Array.from({ length: 20 }, () => calls);
  const report: Report = {
    opening,
    applied: 0,
    escrows: [],
    share: NO_SHARE,
    usedLately: 0,
    counters: Object.fromEntries(
      Object.entries(counters).map(([name, value]) => [name, { value, atMs: Date.now() }]),
    ),
    traffic: { [isoDate(Date.now())]: { 'oc>oc': { calls, waits } } },
  };
  return gate(ada.accountId).renew('oc', report);
};

test('home keeps only those counters of a branch that statistics still show', async () => {
  const nowMs = Date.parse(NOW);
  const day = (daysAgo: number) => `day:${isoDate(nowMs - daysAgo * DAY_MS)}:verify`;
  const { startMs } = calendarMonth(nowMs);
  const product = (months: number) => `product:${addMonths(startMs, months)}:orrery`;
  await renew({ [day(30)]: 1, [day(29)]: 2, [day(0)]: 3, [product(-1)]: 4, [product(0)]: 5 });
  const [{ counters }] = await records();
  expect(counters).toEqual({ [day(29)]: 2, [day(0)]: 3, [product(0)]: 5 });
});

test('an upgrade within a month keeps what branches have reported by product', async () => {
  const nowMs = Date.now();
  await renew({ [`product:${calendarMonth(nowMs).startMs}:orrery`]: 5 });
  await setPlan(ada.accountId, 'scale', { periodStart: nowMs, periodEnd: addMonths(nowMs, 1) });
  const { products } = await statistics(ada.accountId);
  expect(products).toEqual([{ code: 'orrery', calls: 5 }]);
});

test('a report that is late or repeated lowers no statistics', async () => {
  const name = `day:${isoDate(Date.now())}:verify`;
  await renew({ [name]: 7 }, 7);
  await renew({ [name]: 5 }, 5);
  const [{ counters }] = await records();
  expect(counters).toEqual({ [name]: 7 });
  const query = 'SELECT routes FROM region_traffic WHERE opening > 0';
  const [traffic] = await readGate<{ routes: string }>(ada.accountId, query);
  expect(JSON.parse(traffic?.routes ?? '')).toMatchObject({
    'oc>oc': { calls: 7, waits: Array(20).fill(7) },
  });
});

test('a branch that has not reported for a day is closed, and what it was granted counts as spent', async () => {
  for (let i = 0; i < 3; i++) await verifyIn('oc', ada, licenseKey);
  const [{ opening, escrows }] = await records();
  const held = (escrows as Escrow[]).reduce((sum, escrow) => sum + unspent(escrow, escrow.periodStartMs), 0);
  expect(held).toBeGreaterThan(10);
  const before = (await statistics(ada.accountId)).apiUsage;
  const tell = vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The region is down.'));
  vi.advanceTimersByTime(DAY_MS - 1_000);
  await ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`);
  expect(await records()).toHaveLength(1);
  vi.advanceTimersByTime(1_000);
  await evict(ada.accountId);
  await statistics(ada.accountId);
  vi.advanceTimersByTime(LEASE_MS);
  await ada.asSession('POST', `/api/v1/licenses/${licenseId}/reinstate`);
  expect(await records()).toEqual([]);
  const used = before + held;
  expect((await statistics(ada.accountId)).apiUsage).toBe(used);
  // The branch returns, forgets its grant, and is opened anew.
  tell.mockRestore();
  expect(await renew({}, 0, opening)).toEqual({ closed: opening });
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'enam', apiUsage: used + 1 });
  await openBranch('oc', ada, licenseKey);
  expect(await records()).toMatchObject([{ region: 'oc', opening: opening + 1 }]);
});
