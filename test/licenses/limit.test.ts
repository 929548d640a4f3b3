import { expect, onTestFinished, test, vi } from 'vitest';
import { PLAN_NAMES, PLANS } from '../../src/shared/rules/plans.ts';
import { type Customer, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setPlan } from '../support/gate.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const run = (query: string, ...values: unknown[]) =>
  accountsD1
    .prepare(query)
    .bind(...values)
    .run();

/** Makes the account hold this many licenses more, as far as the limit is concerned. */
const pretendToHold = ({ accountId }: Customer, licenses: number) =>
  run(`UPDATE license_totals SET licenses = licenses + ?2 WHERE account_id = ?1`, accountId, licenses);

const create = (customer: Customer, body: object = {}, headers: Record<string, string> = {}) =>
  customer.asKey('POST', '/api/v1/licenses/create', body, headers);

test.for(PLAN_NAMES)('an account on %s can hold as many licenses as its plan allows', async (plan) => {
  const ada = await signUp();
  await setPlan(ada.accountId, plan);
  await pretendToHold(ada, PLANS[plan].licenseLimit - 1);
  expect((await create(ada)).status).toBe(201);
  const { status, body } = await create(ada);
  expect([status, body.error.code, body.error.message]).toEqual([
    403,
    'license_limit_reached',
    'License Limit Reached',
  ]);
  const bob = await signUp();
  expect((await create(bob)).status).toBe(201);
});

test('parallel creates fill the last places exactly, and only created licenses count as usage', async () => {
  const ada = await signUp();
  await pretendToHold(ada, 9_998);
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(ada)));
  const refused = answers.filter(({ body }) => body.error?.code === 'license_limit_reached');
  expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([2, 6]);
  const { body } = await ada.asSession('GET', '/api/dashboard');
  expect([body.usage.api_usage, body.licenses.total]).toEqual([2, 10_000]);
});

test('a repeat of the create that took the last place returns its license, also in parallel', async () => {
  const ada = await signUp();
  await pretendToHold(ada, 9_999);
  const once = { 'idempotency-key': 'once' };
  const order = { license_key: 'LAST-PLACE' };
  const answers = await Promise.all(Array.from({ length: 6 }, () => create(ada, order, once)));
  answers.push(await create(ada, order, once));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect((await create(ada, {}, { 'idempotency-key': 'another' })).body.error.code).toBe(
    'license_limit_reached',
  );
});

test('revoked licenses count toward the limit, and a plan that has run out counts as free', async () => {
  const { ada, id } = await sellerWithLicense({}, 'pro');
  await pretendToHold(ada, 9_999);
  await ada.asSession('POST', `/api/v1/licenses/${id}/revoke`);
  const setPlanUntil = (ms: number) =>
    run('UPDATE accounts SET plan_until = ? WHERE id = ?', ms, ada.accountId);
  await setPlanUntil(Date.now() - 1);
  expect((await create(ada)).status).toBe(403);
  await setPlanUntil(Date.now() + 60_000);
  expect((await create(ada)).status).toBe(201);
});

test('a granted plan raises the limit until it ends, but never lowers the limit of the paid plan', async () => {
  const ada = await signUp();
  const stop = withOperatorToken();
  onTestFinished(stop);
  const grant = (body: object) => asOperator('POST', `/operator/accounts/${ada.accountId}/plan`, body);
  await pretendToHold(ada, PLANS.free.licenseLimit);
  expect((await create(ada)).status).toBe(403);
  useFakeClock();
  expect((await grant({ plan: 'pro', until: new Date(Date.now() + 60_000).toISOString() })).status).toBe(200);
  expect((await create(ada)).status).toBe(201);
  vi.advanceTimersByTime(60_000);
  expect((await create(ada)).status).toBe(403);

  await setPlan(ada.accountId, 'scale');
  await pretendToHold(ada, PLANS.pro.licenseLimit);
  await grant({ plan: 'pro' });
  expect((await create(ada)).status).toBe(201);
});
