import { beforeEach, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { PLAN_NAMES, PLANS } from '../../src/shared/rules/plans.ts';
import { type Customer, outcomeOf, tallyOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, kill, setChangesToday, setPlan } from '../support/gate.ts';
import { countedBytes, setCountedBytes, sumOfRows } from '../support/storage.ts';
import { sellerOn, sellerWithLicense } from '../support/worlds.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

beforeEach(() => {
  useFakeClock();
});

const put = (ada: Customer) => ada.asSession('PUT', '/api/v1/products/P1', {});

test.for(PLAN_NAMES)('an account on %s makes as many changes a day as its plan allows', async (plan) => {
  const ada = await sellerOn(plan);
  await setChangesToday(ada.accountId, PLANS[plan].changesPerDay - 5);
  const answers = await Promise.all(Array.from({ length: 8 }, () => put(ada)));
  expect(tallyOf(answers)).toEqual({ '201 ok': 1, '200 ok': 4, '429 rate_limit_exceeded': 3 });
  const refused = await put(ada);
  expect(refused.headers.get('retry-after')).toBe(String(12 * 3_600));
  expect(refused.body.error.message).toContain('changes today');
});

test('the next day, or a larger plan, allows changes again', async () => {
  const { ada } = await sellerWithLicense();
  await setChangesToday(ada.accountId, 50_000);
  expect(outcomeOf(await put(ada))).toBe('429 rate_limit_exceeded');
  await setPlan(ada.accountId, 'pro');
  expect(outcomeOf(await put(ada))).toBe('201 ok');
  await setPlan(ada.accountId, 'free');
  expect(outcomeOf(await put(ada))).toBe('429 rate_limit_exceeded');
  vi.advanceTimersByTime(12 * HOUR_MS);
  expect(outcomeOf(await put(ada))).toBe('200 ok');
});

test('each changed line of an import is a change, and lines beyond the day’s changes fail', async () => {
  const { ada } = await sellerWithLicense();
  await setChangesToday(ada.accountId, 49_990);
  const lines = (name: string, count: number) =>
    toLines(Array.from({ length: count }, (_, i) => ({ license_key: `LINE-${name}-${i}000` })));
  expect((await importAs(ada, lines('A', 8))).totals).toMatchObject({ created: 8 });
  const { answers, totals } = await importAs(ada, lines('A', 8) + lines('B', 3), '?on_conflict=skip');
  expect(totals).toMatchObject({ created: 0, failed: 3 });
  expect(answers.at(-1).error).toMatchObject({ code: 'rate_limit_exceeded' });
  expect((await importAs(ada, lines('B', 2))).totals).toMatchObject({ created: 2 });
  const stored = await sumOfRows(ada.accountId);
  expect(outcomeOf(await put(ada))).toBe('429 rate_limit_exceeded');
  expect(await sumOfRows(ada.accountId)).toBe(stored);
});

test('each machine that an import adds is a change, and those beyond the day’s changes fail', async () => {
  const { ada, license_key } = await sellerWithLicense();
  await setChangesToday(ada.accountId, 49_998);
  const machine = (n: number) => ({
    type: 'activation',
    license_key,
    fingerprint: `machine-000${n}`,
    activated_at: '2027-03-01T00:00:00Z',
  });
  const lines = toLines([1, 2, 1, 3].map(machine));
  expect((await importAs(ada, lines, '?dry_run=true')).totals).toMatchObject({ failed: 0 });
  const { answers } = await importAs(ada, lines);
  expect(answers.map(({ result, error }) => error?.code ?? result)).toEqual([
    'created',
    'created',
    'unchanged',
    'rate_limit_exceeded',
  ]);
  expect(answers[3].error.message).toContain('changes today');
  expect(outcomeOf(await put(ada))).toBe('429 rate_limit_exceeded');
});

test('what a full account can’t store counts as one change of the day, however many lines it has', async () => {
  const { ada } = await sellerWithLicense();
  await setChangesToday(ada.accountId, 49_400);
  const lines = (count: number) =>
    toLines(Array.from({ length: count }, (_, i) => ({ license_key: `LINE-${i}-0000` })));
  const stored = await countedBytes(ada.accountId);
  await setCountedBytes(ada.accountId, 10_000_000);
  for (let i = 0; i < 3; i++)
    expect((await importAs(ada, lines(500))).answers.at(-1).error.code).toBe('storage_limit_reached');
  await setCountedBytes(ada.accountId, stored);
  expect((await importAs(ada, lines(500))).totals).toMatchObject({ created: 500 });
  await setChangesToday(ada.accountId, 49_998);
  const create = async () => outcomeOf(await ada.asSession('POST', '/api/v1/licenses/create', {}));
  const takeKey = async () =>
    outcomeOf(await ada.asSession('POST', '/api/v1/licenses/create', { license_key: 'LINE-0-0000' }));
  expect([await takeKey(), await create(), await create()]).toEqual([
    '409 license_key_taken',
    '201 ok',
    '429 rate_limit_exceeded',
  ]);
});

test('in a full account, a renewal counts as 50 changes of the day', async () => {
  const { ada, license } = await sellerWithLicense();
  await setCountedBytes(ada.accountId, 500_000_000);
  const renew = async () =>
    outcomeOf(await ada.asSession('POST', `/api/v1/licenses/${license.id}/renew`, { duration_days: 1 }));
  // Each begins as a single change, which finds the account full.
  await setChangesToday(ada.accountId, 50_000 - 2 * 51);
  expect([await renew(), await renew(), await renew()]).toEqual([
    '200 ok',
    '200 ok',
    '429 rate_limit_exceeded',
  ]);
});

test('beyond the day’s changes, a seller still ends licenses and keys, and applications are answered', async () => {
  const { ada, license } = await sellerWithLicense();
  const other = await ada.createLicense();
  await setChangesToday(ada.accountId, 50_000);
  const path = `/api/v1/licenses/${license.id}`;
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
  expect(outcomeOf(await ada.asKey('POST', '/api/v1/licenses/create', {}))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await ada.asSession('POST', `${path}/suspend`))).toBe('200 ok');
  expect(outcomeOf(await ada.asSession('POST', `${path}/reinstate`))).toBe('429 rate_limit_exceeded');
  expect(outcomeOf(await ada.asSession('POST', `/api/v1/licenses/${other.id}/revoke`))).toBe('200 ok');
  expect(outcomeOf(await ada.asSession('DELETE', path))).toBe('200 ok');
  expect((await ada.verify(license.license_key)).body.status).toBe('not_found');
  expect(outcomeOf(await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`))).toBe('200 ok');
});

test('no restart of the gate forgets a change of the day', async () => {
  const { ada, license_key } = await sellerWithLicense();
  await setChangesToday(ada.accountId, 49_994);
  const lines = toLines(Array.from({ length: 3 }, (_, i) => ({ license_key: `LINE-${i}-0000` })));
  const machine = { type: 'activation', license_key, fingerprint: 'machine-0001' };
  const added = toLines([{ ...machine, activated_at: '2027-03-01T00:00:00Z' }]);
  expect(outcomeOf(await put(ada))).toBe('201 ok');
  await evict(ada.accountId);
  expect((await importAs(ada, lines)).totals).toMatchObject({ created: 3 });
  await kill(ada.accountId);
  expect((await importAs(ada, added)).totals).toMatchObject({ created: 1 });
  await kill(ada.accountId);
  expect(outcomeOf(await put(ada))).toBe('200 ok');
  await evict(ada.accountId);
  expect(outcomeOf(await put(ada))).toBe('429 rate_limit_exceeded');
});

test('a change that is refused for the day leaves no feed row and no query of D1', async () => {
  const ada = await sellerOn('free');
  await setChangesToday(ada.accountId, 50_000);
  const batch = vi.spyOn(Object.getPrototypeOf(accountsD1) as D1Database, 'batch');
  await put(ada);
  expect(batch).not.toHaveBeenCalled();
  batch.mockRestore();
});
