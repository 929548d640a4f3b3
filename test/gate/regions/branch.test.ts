import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import { readReply } from '../../../src/gate/rules/calls.ts';
import { CLOSE_AFTER_MS, renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { WebhookOutbox } from '../../../src/index.ts';
import { setSuspended } from '../../../src/operators/accounts.ts';
import { isoDate } from '../../../src/shared/rules/dates.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { newId } from '../../../src/shared/text/ids.ts';
import { type Customer } from '../../support/client.ts';
import { ctxOf } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { evict, gate, readGate, setUsage, statistics, storedEvents } from '../../support/gate.ts';
import { waitPatiently } from '../../support/network.ts';
import { branch, openBranch, presentedKey, verifyAtHome, verifyIn } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sellerAtHome } from '../../support/worlds.ts';

let ada: Customer;
let licenseKey: string;
let licenseId: string;

beforeEach(async () => {
  // At noon, so that no test crosses the end of a day or a period.
  useFakeClock();
  waitPatiently();
  ({ ada, licenseKey, licenseId } = await sellerAtHome('scale', { product: 'orrery' }));
  await ada.asSession('PUT', '/api/v1/products/orrery', {});
  await openBranch('oc', ada, licenseKey);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const usage = async () => (await statistics(ada.accountId)).apiUsage;

test('a branch lets home answer the first verify of a license, and answers the next ones itself', async () => {
  const before = await usage();
  const forward = vi.spyOn(AccountGate.prototype, 'forward');
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'enam', apiUsage: before + 1 });
  expect(forward).toHaveBeenCalledOnce();
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({
    region: 'oc',
    branch: 'oc',
    verdict: { valid: true, status: 'active' },
    apiUsage: before + 2,
  });
  expect(forward).toHaveBeenCalledOnce();
  // Home learns of the call with the next report.
  expect(await verifyIn('oc', ada, 'UNKNOWN-KEY')).toMatchObject({ apiUsage: before + 2 });
  expect(await usage()).toBe(before + 2);
});

test('a branch asks for more calls before its first grant is used up', async () => {
  await verifyIn('oc', ada, licenseKey);
  const renew = vi.spyOn(AccountGate.prototype, 'renew');
  const verifyTimes = async (times: number) => {
    for (let i = 0; i < times; i++)
      expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
  };
  // A renewal follows another one after three seconds at the earliest.
  vi.advanceTimersByTime(4_000);
  await verifyTimes(11);
  await waitUntil(() => renew.mock.calls.length > 0);
  expect(renew).toHaveBeenCalledOnce();
  await Promise.all(renew.mock.results.map(({ value }) => value as unknown));
  await verifyTimes(20);
});

test('a repeated call is counted once, whether the branch or home has answered it', async () => {
  const before = await usage();
  // Home answers the first call, and sends the branch the rows with which it could answer the repeat.
  for (let i = 0; i < 2; i++) await verifyIn('oc', ada, licenseKey, 'answered at home');
  for (let i = 0; i < 2; i++) await verifyIn('oc', ada, licenseKey, 'answered by the branch');
  vi.advanceTimersByTime(LEASE_MS);
  expect(await verifyIn('oc', ada, licenseKey, 'answered by the branch')).toMatchObject({ region: 'enam' });
  expect(await usage()).toBe(before + 2);
});

test('after a change is answered, the branch shows it', async () => {
  await verifyIn('oc', ada, licenseKey);
  for (const [action, status] of [
    ['suspend', 'suspended'],
    ['reinstate', 'active'],
    ['revoke', 'revoked'],
  ] as const) {
    expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
    expect((await ada.asSession('POST', `/api/v1/licenses/${licenseId}/${action}`)).status).toBe(200);
    expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status } });
  }
  await verifyIn('oc', ada, licenseKey);
  await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ refused: 'api_key_invalid' });
});

test('a branch refuses the API keys of an account once the operator has suspended it', async () => {
  const answer = () => verifyIn('oc', ada, licenseKey);
  await answer();
  for (const [isSuspended, expected] of [
    [true, { refused: 'account_suspended' }],
    [false, { verdict: { valid: true } }],
  ] as const) {
    await setSuspended(ctxOf(ada.accountId), isSuspended);
    expect(await answer()).toMatchObject(expected);
  }
});

test('a branch refuses an API key outside of its allowed addresses', async () => {
  const allowed_ips = ['192.0.2.0/24'];
  const { body } = await ada.asSession('POST', '/api/create-api-key', { allowed_ips });
  const parsed = presentedKey({ apiKey: body.api_key });
  const answer = async (ip: string) =>
    readReply(await branch(ada.accountId, 'oc').verify({ ...parsed, ip }, licenseKey, newId('req'), true));
  for (const region of ['enam', 'oc']) expect(await answer('192.0.2.7')).toMatchObject({ region });
  expect(await answer('198.51.100.1')).toMatchObject({ refused: 'ip_not_allowed' });
  expect(await answer('192.0.2.8')).toMatchObject({ region: 'oc' });
});

test('a branch answers for a license that has got terms from its product', async () => {
  for (const region of ['enam', 'oc'])
    expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region });
  await ada.asSession('PUT', '/api/v1/products/orrery', { terms: { offline_days: 3 } });
  for (const region of ['enam', 'oc'])
    expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({
      region,
      verdict: { code: 'valid', offline_days: 3 },
    });
});

test('a branch doesn’t keep a row that a change has overtaken', async () => {
  const original = Reflect.get(AccountGate.prototype, 'forward');
  vi.spyOn(AccountGate.prototype, 'forward').mockImplementationOnce(async function (
    this: AccountGate,
    ...args
  ) {
    const answer = await original.apply(this, args);
    await ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`);
    return answer;
  });
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'active' } });
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'suspended' } });
});

test('a restarted branch lets home answer until it has a lease again', async () => {
  await verifyIn('oc', ada, licenseKey);
  const before = await usage();
  await verifyIn('oc', ada, licenseKey);
  await evictDurableObject(branch(ada.accountId, 'oc'));
  const renewed = vi.spyOn(AccountGate.prototype, 'renew').mock.settledResults;
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'enam', apiUsage: before + 2 });
  await waitUntil(() => renewed.length > 0);
  // The share is empty at first.
  vi.advanceTimersByTime(100);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
});

test('a restarted home keeps the branch, what it was granted and what it has counted', async () => {
  await verifyIn('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  const before = (await verifyIn('oc', ada, 'UNKNOWN-KEY')) as { apiUsage: number };
  await evict(ada.accountId);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({
    region: 'oc',
    apiUsage: before.apiUsage + 1,
  });
  expect((await ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`)).status).toBe(200);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'suspended' } });
  expect(await usage()).toBe(before.apiUsage + 2);
});

test('a branch without calls for 15 minutes closes, and home takes over its counts', async () => {
  await verifyIn('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  const last = (await verifyIn('oc', ada, licenseKey)) as { apiUsage: number };
  vi.advanceTimersByTime(CLOSE_AFTER_MS);
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  expect(await readGate(ada.accountId, 'SELECT * FROM branches')).toEqual([]);
  expect(await usage()).toBe(last.apiUsage);
  const { days, products } = await statistics(ada.accountId);
  expect(days).toEqual([{ date: isoDate(Date.now()), verify: last.apiUsage, create: 0 }]);
  expect(products).toEqual([{ code: 'orrery', calls: last.apiUsage }]);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({
    region: 'enam',
    apiUsage: last.apiUsage + 1,
  });
  expect(await verifyAtHome('oc', ada, licenseKey)).not.toHaveProperty('branch');
  await openBranch('oc', ada, licenseKey);
  const reopened = await usage();
  await verifyIn('oc', ada, licenseKey);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
  expect(await verifyIn('oc', ada, 'UNKNOWN-KEY')).toMatchObject({ apiUsage: reopened + 2 });
});

test('with each renewal, home learns of the branch’s calls by day and product, and of the keys that were used', async () => {
  for (let i = 0; i < 2; i++) await verifyIn('oc', ada, licenseKey);
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  const last = (await verifyIn('oc', ada, licenseKey)) as { apiUsage: number };
  const lastUsedMs = Date.now();
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  const { days, products } = await statistics(ada.accountId);
  expect(days).toEqual([{ date: isoDate(lastUsedMs), verify: last.apiUsage, create: 0 }]);
  expect(products).toEqual([{ code: 'orrery', calls: last.apiUsage }]);
  const [usedMs] = await gate(ada.accountId).keysLastUsedMs([ada.apiKeyId]);
  // Noted once a minute.
  expect(lastUsedMs - (usedMs ?? 0)).toBeLessThan(60_000);
});

test('an alarm that comes a little early renews the lease, so that it lasts until the next alarm', async () => {
  await verifyIn('oc', ada, licenseKey);
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS) - 1_000);
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
});

test('home notes a usage threshold that a branch has reached', async () => {
  await verifyIn('oc', ada, licenseKey);
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit * 0.8 - 2);
  for (let i = 0; i < 3; i++) expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
  const accept = vi.spyOn(WebhookOutbox.prototype, 'accept');
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
  const noted = [JSON.stringify(await storedEvents(ada.accountId)), ...accept.mock.calls.flat()];
  expect(noted.join()).toContain('usage.threshold');
  // Home sends the event although it has answered no call since.
  await waitUntil(
    () => accept.mock.calls.flat(),
    (accepted) => accepted.join().includes('usage.threshold'),
  );
});
