import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import { CLOSE_AFTER_MS, renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { RATE_WINDOW_MS } from '../../../src/shared/rules/rate.ts';
import { LEASE_MS, OPEN_AFTER_CALLS } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { evict, gate, readGate, setUsage, statistics } from '../../support/gate.ts';
import { waitPatiently } from '../../support/network.ts';
import { branch, killBranch, openBranch, verifyAtHome, verifyIn } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sellerAtHome } from '../../support/worlds.ts';

// What home and a branch do after one of them has missed something.

let ada: Customer;
let licenseKey: string;
let licenseId: string;

beforeEach(async () => {
  useFakeClock();
  waitPatiently();
  ({ ada, licenseKey, licenseId } = await sellerAtHome('scale'));
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const suspend = () => ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`);

const readBranch = <T extends Record<string, SqlStorageValue>>(query: string) =>
  runInDurableObject(branch(ada.accountId, 'oc'), (_instance, { storage }) =>
    storage.sql.exec<T>(query).toArray(),
  );

test('a branch doesn’t keep a row that home sent before the branch was closed and opened again', async () => {
  const { license_key: otherKey, id } = await ada.createLicense();
  const original = Reflect.get(AccountGate.prototype, 'forward');
  vi.spyOn(AccountGate.prototype, 'forward').mockImplementationOnce(async function (
    this: AccountGate,
    ...args
  ) {
    const answer = await original.apply(this, args);
    vi.advanceTimersByTime(CLOSE_AFTER_MS);
    await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
    await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
    await openBranch('oc', ada, licenseKey);
    return answer;
  });
  await verifyIn('oc', ada, otherKey);
  expect(await verifyIn('oc', ada, otherKey)).toMatchObject({ verdict: { status: 'suspended' } });
});

test('calls with unknown license keys write no rows in the branch', async () => {
  const copies = () => readBranch('SELECT kind, ref, as_of FROM copies ORDER BY kind');
  const before = await copies();
  await suspend();
  await ada.asSession('POST', `/api/v1/licenses/${licenseId}/reinstate`);
  await verifyIn('oc', ada, 'UNKNOWN-KEY');
  expect(await copies()).toEqual(before.filter(({ kind }) => kind === 'key'));
});

test('a refused call doesn’t wait for a branch that was cut off for longer than its lease', async () => {
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit);
  // The restarted home takes the branch for leased.
  await statistics(ada.accountId);
  const never = new Promise<never>(() => {});
  const tell = vi.spyOn(GateBranch.prototype, 'tell').mockReturnValue(never);
  // Home never gives up waiting, so a call that waited for the branch would get no answer.
  vi.spyOn(scheduler, 'wait').mockReturnValue(never);
  vi.advanceTimersByTime(LEASE_MS);
  const refused = await verifyAtHome('enam', ada, licenseKey);
  expect(refused).toMatchObject({ refused: 'usage_limit_exceeded' });
  // The branch is still asked for its calls.
  await waitUntil(() => tell.mock.calls.some(([told]) => told.isRecall));
});

test('a branch without calls for 15 minutes closes, also if its object restarts meanwhile', async () => {
  vi.advanceTimersByTime(CLOSE_AFTER_MS);
  await evictDurableObject(branch(ada.accountId, 'oc'));
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  expect(await readGate(ada.accountId, 'SELECT * FROM branches')).toEqual([]);
});

test('a branch that has lost its alarm gets a lease again, and its alarm', async () => {
  await runInDurableObject(branch(ada.accountId, 'oc'), (_instance, { storage }) => storage.deleteAlarm());
  vi.advanceTimersByTime(LEASE_MS);
  await openBranch('oc', ada, licenseKey);
  expect(await runDurableObjectAlarm(branch(ada.accountId, 'oc'))).toBe(true);
});

test('a change that can’t be told to a branch is answered after the branch’s next renewal', async () => {
  vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The branch is overloaded.'));
  const suspended = suspend();
  await waitUntil(
    () => verifyAtHome('enam', ada, licenseKey),
    (reply) => 'verdict' in reply && reply.verdict.status === 'suspended',
  );
  // The branch doesn't know better, and the change isn't answered yet.
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'active' } });
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  // The clock stands still, so nothing else could let the change be answered.
  expect(await suspended).toMatchObject({ status: 200 });
});

test.for(['home', 'branch', 'home and branch'])(
  'after an eviction of %s, the branch answers its second call, while another branch is cut off',
  async (evicted) => {
    await openBranch('weur', ada, licenseKey);
    vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The network is cut.'));
    if (evicted.includes('home')) await evict(ada.accountId);
    if (evicted.includes('branch')) await evictDurableObject(branch(ada.accountId, 'oc'));
    const renewed = vi.spyOn(AccountGate.prototype, 'renew').mock.settledResults;
    const isForwarded = evicted.includes('branch');
    expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: isForwarded ? 'enam' : 'oc' });
    const renewals = isForwarded ? 1 : 0;
    await waitUntil(
      () => renewed.length,
      (count) => count === renewals,
    );
    // The share is empty at first.
    vi.advanceTimersByTime(100);
    expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
    expect(renewed).toHaveLength(renewals);
  },
);

test('a restarted home tells branches nothing before the first change, which each applies with one message', async () => {
  const tell = vi.spyOn(GateBranch.prototype, 'tell');
  await evict(ada.accountId);
  await verifyAtHome('enam', ada, licenseKey);
  expect((await suspend()).status).toBe(200);
  expect(tell).toHaveBeenCalledOnce();
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'suspended' } });
});

test('a branch’s renewal that changes nothing writes nothing but its alarm', async () => {
  const renew = async () => {
    vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
    await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  };
  // What the branch has answered is told with the first renewal.
  await renew();
  const renewed = vi.spyOn(AccountGate.prototype, 'renew');
  const written = await runInDurableObject(branch(ada.accountId, 'oc'), (_instance, { storage }) => {
    const queries = vi.spyOn(storage.sql, 'exec').mock.calls;
    const puts = vi.spyOn(storage.kv, 'put').mock.calls;
    return { queries, puts };
  });
  await renew();
  expect(renewed).toHaveBeenCalled();
  expect(written.queries.filter(([query]) => !query.startsWith('SELECT'))).toEqual([]);
  expect(written.puts).toEqual([]);
});

test('a restarted home allows its whole share of the rate limits', async () => {
  const left = async () => {
    vi.advanceTimersByTime(RATE_WINDOW_MS);
    const reply = await verifyAtHome('enam', ada, licenseKey);
    return 'rate' in reply ? reply.rate.remaining : 0;
  };
  const before = await left();
  await evict(ada.accountId);
  expect(await left()).toBe(before);
});

test('calls never pass the limit when a branch loses its storage, and its region gets another branch', async () => {
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit - 80);
  const left = apiLimit - (await statistics(ada.accountId)).apiUsage;
  const admitted = async (calls: number) => {
    const answers = [];
    for (let i = 0; i < calls; i++) answers.push(await verifyIn('oc', ada, licenseKey));
    return answers.filter(({ refused }) => refused === null).length;
  };
  const before = await admitted(15);
  await runInDurableObject(branch(ada.accountId, 'oc'), (_instance, { storage }) => storage.deleteAll());
  await killBranch(ada.accountId, 'oc');
  const tell = vi.spyOn(GateBranch.prototype, 'tell');
  expect((await suspend()).status).toBe(200);
  expect(tell.mock.calls.length).toBeLessThanOrEqual(2);
  await openBranch('oc', ada, licenseKey);
  const opening = OPEN_AFTER_CALLS + 1;
  expect(before + (await admitted(left))).toBeLessThanOrEqual(left - opening);
  expect((await statistics(ada.accountId)).apiUsage).toBe(apiLimit);
});

test('calls that a branch forwards at once share a write of what it has counted', async () => {
  let writes = 0;
  await runInDurableObject(gate(ada.accountId), (_instance, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql);
    sql.exec = ((query: string, ...bindings: SqlStorageValue[]) => {
      if (query.includes('INTO branches')) writes++;
      return exec(query, ...bindings);
    }) as typeof sql.exec;
  });
  const calls = Array.from({ length: 20 }, async (_, i) => {
    await verifyIn('oc', ada, licenseKey);
    await verifyIn('oc', ada, `UNKNOWN-KEY-${i}`);
  });
  await Promise.all(calls);
  expect(writes).toBeGreaterThan(0);
  expect(writes).toBeLessThan(10);
});
