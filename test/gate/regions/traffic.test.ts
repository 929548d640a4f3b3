import { createExecutionContext, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import { openLedger } from '../../../src/gate/object/ledger.ts';
import { openOutgoing } from '../../../src/gate/object/outgoing.ts';
import { CLOSE_AFTER_MS } from '../../../src/gate/rules/lease.ts';
import { openTraffic, quantileMs } from '../../../src/gate/rules/traffic.ts';
import worker from '../../../src/index.ts';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { newId } from '../../../src/shared/text/ids.ts';
import { type Customer, type Json, ORIGIN } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { countRows, evict, readGate } from '../../support/gate.ts';
import { branch, openBranch, verifyFrom } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';

const NOON = '2027-03-10T12:00:00.000Z';

const waitsOf = (times: number[]) => {
  const traffic = openTraffic('');
  for (const ms of times) traffic.noteWait('oc', { answeredIn: 'enam', ms }, 0);
  return traffic.days()['1970-01-01']?.['oc>enam']?.waits ?? [];
};

const EVERY_3_MS = Array.from({ length: 100 }, (_, i) => i * 3);

test('a quantile of waits is interpolated within its bucket, and is null without waits', () => {
  expect(quantileMs([0, 0], 0.5)).toBe(null);
  expect(quantileMs(waitsOf([14]), 0.5)).toBe(13);
  expect(quantileMs(waitsOf(EVERY_3_MS), 0.5)).toBe(147);
  expect(quantileMs(waitsOf(EVERY_3_MS), 0.95)).toBe(284);
  expect(quantileMs(waitsOf([20, 30_000]), 0.95)).toBe(2_500);
});

test('calls by region add no row to a commit, but one for each day', () =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_instance, { storage }) => {
    const saved: unknown[] = [];
    const open = () => openLedger(storage.sql, openOutgoing(storage.sql).kept, (days) => saved.push(days));
    let ledger = open();
    const nowMs = Date.parse(NOON);
    const verify = (atMs: number) => {
      ledger.count('verify', 0, atMs);
      ledger.traffic.count('oc', 'enam', atMs);
      ledger.traffic.noteWait('oc', { answeredIn: 'enam', ms: 200 }, atMs);
      ledger.write();
    };
    verify(nowMs);
    expect(countRows(storage.sql, () => verify(nowMs + 1_000))).toBe(1);
    ledger = open();
    verify(nowMs + 2_000);
    expect(saved).toEqual([]);
    verify(nowMs + DAY_MS);
    expect(saved).toMatchObject([{ '2027-03-10': { 'oc>enam': { calls: 3 } } }]);
    expect(open().traffic.days()).toMatchObject({ '2027-03-11': { 'oc>enam': { calls: 1 } } });
  }));

let ada: Customer;
let licenseKey: string;

const read = async (path: string, regions: 'on' | 'off' = 'on'): Promise<Json> => {
  const headers = { 'x-api-key': ada.apiKey };
  const request = new Request(ORIGIN + path, { headers });
  const response = await worker.fetch(request, { ...env, REGIONS: regions }, createExecutionContext());
  expect(response.status).toBe(200);
  return response.json();
};

/** Lets each answer of a method take this long. */
const take = (prototype: object, ms: number) => {
  const original = Reflect.get(prototype, 'verify') as (...args: unknown[]) => unknown;
  vi.spyOn(prototype as Record<'verify', () => unknown>, 'verify').mockImplementation(async function (
    this: unknown,
    ...args: unknown[]
  ) {
    const reply = await original.apply(this, args);
    vi.advanceTimersByTime(ms);
    return reply;
  });
};

describe('GET /api/regions and /api/account', () => {
  beforeEach(async () => {
    useFakeClock(NOON);
    ({ ada, licenseKey } = await sellerAtHome('pro'));
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('calls are shown by the region of their callers, with their latency and the region that answered', async () => {
    take(AccountGate.prototype, 200);
    for (let i = 0; i < 4; i++) {
      await verifyFrom('oc', ada, licenseKey);
      vi.advanceTimersByTime(1_000);
    }
    await verifyFrom('weur', ada, licenseKey);
    await verifyFrom('weur', ada, licenseKey);
    // Waits go with a later call, so the last one of each region isn't known. At most one call a second is measured.
    const oc = { calls: 4, p50_ms: 175, p95_ms: 198 };
    const weur = { calls: 2, p50_ms: null, p95_ms: null };
    const regions = [
      { region: 'oc', ...oc, answered_by: [{ region: 'enam', ...oc }] },
      { region: 'weur', ...weur, answered_by: [{ region: 'enam', ...weur }] },
    ];
    const shown = { enabled: true, home_region: 'enam', moving_to: null, branches: [], days: 30, regions };
    expect(await read('/api/regions')).toEqual(shown);
    await evict(ada.accountId);
    expect(await read('/api/regions')).toEqual(shown);
    vi.setSystemTime('2027-03-11T12:00:00.000Z');
    await verifyFrom('weur', ada, licenseKey);
    vi.setSystemTime('2027-04-08T12:00:00.000Z');
    expect(await read('/api/regions')).toMatchObject({ regions: [{ calls: 4 }, { calls: 3 }] });
    vi.setSystemTime('2027-04-09T12:00:00.000Z');
    expect(await read('/api/regions')).toMatchObject({ regions: [{ region: 'weur', calls: 1 }] });
  });

  test('an open branch is listed, and its calls are shown also after it has closed', async () => {
    await openBranch('oc', ada, licenseKey);
    const branches = [{ region: 'oc', opened_at: expect.stringMatching(/^2027-03-10T12:00/) as string }];
    expect((await read('/api/account')).branches).toEqual(branches);
    expect((await read('/api/dashboard')).account.branches).toEqual(branches);
    const before = (await read('/api/regions')).regions[0].calls;
    take(GateBranch.prototype, 20);
    for (let i = 0; i < 6; i++) {
      await verifyFrom('oc', ada, licenseKey);
      vi.advanceTimersByTime(1_000);
    }
    const expectCalls = async () => {
      const { regions } = await read('/api/regions');
      const [oc] = regions;
      expect(oc).toMatchObject({ region: 'oc', calls: before + 6 });
      const byBranch = oc.answered_by.find(({ region }: Json) => region === 'oc');
      expect(byBranch).toMatchObject({ p50_ms: 18, p95_ms: 20 });
    };
    const alarm = () => runInDurableObject(branch(ada.accountId, 'oc'), (instance) => instance.alarm());
    vi.advanceTimersByTime(60_000);
    await alarm();
    expect((await read('/api/regions')).branches).toEqual(branches);
    await expectCalls();
    vi.advanceTimersByTime(CLOSE_AFTER_MS);
    await alarm();
    expect((await read('/api/regions')).branches).toEqual([]);
    await expectCalls();
    // Otherwise each opening would leave a row.
    const rows = await readGate(ada.accountId, 'SELECT opening FROM region_traffic');
    expect(rows).toEqual([{ opening: 0 }]);
  });

  test('with regions off, nothing is counted by region, and reading asks no gate for it', async () => {
    const asked = vi.spyOn(AccountGate.prototype, 'regionStatistics');
    await verifyFrom('oc', ada, licenseKey, 'off');
    expect(await read('/api/regions', 'off')).toEqual({
      enabled: false,
      home_region: 'enam',
      moving_to: null,
      branches: [],
      days: 30,
      regions: [],
    });
    expect((await read('/api/account', 'off')).branches).toEqual([]);
    expect(asked).not.toHaveBeenCalled();
    const [row] = await readGate<{ traffic: string }>(ada.accountId, 'SELECT traffic FROM recent_counters');
    expect(row?.traffic).toBe('');
  });
});
