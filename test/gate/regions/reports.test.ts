import { beforeEach, expect, test } from 'vitest';
import type { Report } from '../../../src/gate/regions/messages.ts';
import { addMonths, DAY_MS, isoDate } from '../../../src/shared/rules/dates.ts';
import { calendarMonth } from '../../../src/gate/period.ts';
import { type Customer, signUp } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate, readGate } from '../../support/gate.ts';
import { openBranch, setHome } from '../../support/regions.ts';

// How home merges what its branches report.

const NOW = '2027-03-10T12:00:00.000Z';

let ada: Customer;

beforeEach(async () => {
  useFakeClock(NOW);
  ada = await signUp();
  await setHome(ada.accountId, 'enam');
  const { license_key: licenseKey } = await ada.createLicense();
  await openBranch('oc', ada, licenseKey);
});

const records = async () => {
  const query = 'SELECT opening, state FROM branches';
  const rows = await readGate<{ opening: number; state: string }>(ada.accountId, query);
  return rows.map(({ opening, state }) => ({ opening, ...JSON.parse(state) }));
};

/** Renews the branch's lease with what it has counted. */
const renew = async (counters: Record<string, number>, calls = 0) => {
  const [record] = await records();
  const waits = Array.from({ length: 20 }, () => calls);
  const report: Report = {
    opening: record.opening,
    applied: 0,
    escrows: [],
    share: null,
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
