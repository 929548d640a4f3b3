import { expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { signUp, tallyOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { checkoutSession } from '../support/stripe-objects.ts';
import {
  changeSession,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  signUpWithStripe,
  stripeEnv,
  stripeRequests,
} from '../support/stripe.ts';
import { billingRowsOf, press } from './sandbox.ts';

const COPIES = [1, 2, 3, 4];

const sessionRequests = async (accountId: string) =>
  (await stripeRequests(accountId)).filter(({ path }) => path === '/v1/checkout/sessions');

test('several Stripe checkouts for a plan that start at once are one', async () => {
  const ada = await signUpWithStripe();
  const init = () => ada.callApi('POST', '/api/init-payment', { plan: 'pro' });
  const answers = [...(await Promise.all(COPIES.map(init))), await init()];
  expect(tallyOf(answers)).toEqual({ '201 ok': 5 });
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(await sessionRequests(ada.accountId)).toHaveLength(1);
  expect(await ada.billingRows()).toMatchObject({ payments: [{ status: 'pending' }] });
  const entries = await ada.callApi('GET', '/api/audit-log?action=checkout.start');
  expect(entries.body.data).toHaveLength(1);
});

test('of Stripe checkouts for several plans that start at once one stays payable', async () => {
  const ada = await signUpWithStripe();
  const answers = await Promise.all(
    COPIES.map((i) => ada.callApi('POST', '/api/init-payment', { plan: i % 2 === 0 ? 'pro' : 'scale' })),
  );
  const { results } = await accountsD1
    .prepare('SELECT status, checkout_ref FROM payments WHERE account_id = ?')
    .bind(ada.accountId)
    .all<{ status: string; checkout_ref: string }>();
  expect(results.filter(({ status }) => status === 'pending')).toHaveLength(1);
  for (const { status, checkout_ref } of results) {
    const requests = await stripeRequests(`${checkout_ref}/expire`);
    expect(requests.map(({ answered }) => answered)).toEqual(status === 'replaced' ? [200] : []);
  }
  expect(answers.some(({ status }) => status === 201)).toBe(true);
});

test('a checkout with other pages to return to is another one, and so is one of another day', async () => {
  useFakeClock();
  const ada = await signUpWithStripe();
  const init = async (fields = {}) =>
    (await ada.callApi('POST', '/api/init-payment', { plan: 'pro', ...fields })).body.payment_id as string;
  const first = await init();
  expect(await init()).toBe(first);
  const other = await init({ success_url: '/billing' });
  expect(other).not.toBe(first);
  expect(await init({ success_url: '/billing' })).toBe(other);
  vi.advanceTimersByTime(23 * HOUR_MS);
  expect(await init({ success_url: '/billing' })).not.toBe(other);
});

test('a checkout whose start was cut off is started again under the same payment', async () => {
  const ada = await signUpWithStripe();
  const paymentId = await ada.begin('pro');
  await accountsD1
    .prepare(
      'UPDATE payments SET checkout_ref = NULL, checkout_url = NULL, created_at = created_at - 10000 WHERE id = ?',
    )
    .bind(paymentId)
    .run();
  expect(await ada.begin('pro')).toBe(paymentId);
  const keys = (await sessionRequests(ada.accountId)).map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([paymentId, paymentId]);
});

test('a checkout that the provider refused to start is not repeated', async () => {
  const ada = await signUpWithStripe();
  const down = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });
  const init = () => ada.callApi('POST', '/api/init-payment', { plan: 'pro' }, down);
  expect(tallyOf(await Promise.all([init(), init()]))).toEqual({ '503 unavailable': 2 });
  await ada.begin('pro');
  expect(await ada.billingRows()).toMatchObject({
    payments: [{ status: 'replaced' }, { status: 'pending' }],
  });
});

test('an account starts at most ten checkouts an hour, also in parallel', async () => {
  useFakeClock();
  const ada = await signUpWithStripe();
  const init = (i: number) =>
    ada.callApi('POST', '/api/init-payment', { plan: 'pro', success_url: `/checkout/page-${i}` });
  const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => init(i)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(6);
  expect(refused[0]?.headers.get('retry-after')).toBe('3600');
  expect((await ada.billingRows()).payments).toHaveLength(10);
  // The open one is no new one.
  const open = await accountsD1
    .prepare("SELECT success_url FROM payments WHERE account_id = ? AND status = 'pending'")
    .bind(ada.accountId)
    .first<string>('success_url');
  const again = await ada.callApi('POST', '/api/init-payment', { plan: 'pro', success_url: open });
  expect(again.status).toBe(201);
  vi.advanceTimersByTime(HOUR_MS - 1);
  expect((await init(16)).headers.get('retry-after')).toBe('1');
  vi.advanceTimersByTime(1);
  expect((await init(16)).status).toBe(201);
});

test('an account keeps at most 50 checkouts of earlier days that nobody has paid', async () => {
  useFakeClock();
  const ada = await signUpWithStripe();
  await ada.begin('pro');
  await accountsD1
    .prepare(
      `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 80)
      INSERT INTO payments (id, account_id, provider, plan, status, amount, currency, created_at)
      SELECT 'pay_0000' || i || substr(id, 9), account_id, provider, plan, iif(i % 2, 'replaced', 'expired'), 1, 'usd', 1
      FROM n CROSS JOIN payments WHERE account_id = ?`,
    )
    .bind(ada.accountId)
    .run();
  await ada.begin('scale');
  const { payments } = await ada.billingRows();
  expect(payments).toHaveLength(52);
  expect(payments.filter(({ status }) => status === 'pending')).toHaveLength(1);
});

/** Replaces a checkout while Stripe can't be reached, so that it stays payable. */
const replaceWhileStripeIsDown = async () => {
  const ada = await signUpWithStripe();
  const paymentId = await ada.begin('pro');
  const down = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });
  expect((await ada.callApi('POST', '/api/init-payment', { plan: 'scale' }, down)).status).toBe(503);
  const read = accountsD1
    .prepare('SELECT checkout_ref, expire_due_at FROM payments WHERE id = ?')
    .bind(paymentId);
  const readRow = async () => (await read.first<{ checkout_ref: string; expire_due_at: number | null }>())!;
  const { checkout_ref: sessionId } = await readRow();
  return { ada, paymentId, sessionId, down, isDue: async () => (await readRow()).expire_due_at !== null };
};

test('the scheduled run expires a replaced checkout that could not be expired at once', async () => {
  useFakeClock();
  const { sessionId, down, isDue } = await replaceWhileStripeIsDown();
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly(down);
  expect(await isDue()).toBe(true);
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly(stripeEnv());
  await runHourly(stripeEnv());
  const expiries = await stripeRequests(`${sessionId}/expire`);
  expect(expiries.map(({ answered }) => answered)).toEqual([200]);
  expect(await isDue()).toBe(false);
});

test('the scheduled run finds that a replaced checkout was paid before it could be expired', async () => {
  useFakeClock();
  const { ada, paymentId, sessionId, isDue } = await replaceWhileStripeIsDown();
  const { id } = await paidAtStripe(paymentId, await newStripeCustomer(), month(Date.now()));
  await changeSession(sessionId, { status: 'complete', subscription: id });
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly(stripeEnv());
  expect([await ada.apiLimit(), await isDue()]).toEqual([100_000, false]);
});

test('a replaced checkout is no longer expired once Stripe has closed it', async () => {
  useFakeClock();
  const { down, isDue } = await replaceWhileStripeIsDown();
  vi.advanceTimersByTime(2 * DAY_MS);
  await runHourly(down);
  expect(await isDue()).toBe(false);
});

test.for([
  { order: 'older one first', plans: ['pro', 'scale'] as const },
  { order: 'newer one first', plans: ['scale', 'pro'] as const },
])(
  'of two checkouts that were both paid, notified $order, the newer one stays in force',
  async ({ plans }) => {
    useFakeClock();
    const ada = await signUpWithStripe();
    const payments = { pro: await ada.begin('pro'), scale: '' };
    vi.advanceTimersByTime(1_000);
    payments.scale = await ada.begin('scale');
    const customer = await newStripeCustomer();
    for (const plan of plans) {
      vi.advanceTimersByTime(1_000);
      const atStripe = await paidAtStripe(payments[plan], customer, month(Date.now()));
      const { status } = await notify('checkout.session.completed', checkoutSession(atStripe));
      expect(status).toBe(200);
    }
    const { account, subscriptions, payments: rows } = await ada.billingRows();
    expect(account).toMatchObject([{ plan: 'scale' }]);
    expect(subscriptions.filter(({ status }) => status !== 'ended')).toMatchObject([{ plan: 'scale' }]);
    expect(rows.map(({ status }) => status)).toEqual(['refunded', 'paid']);
    const refunds = (await ada.events()).filter(({ event }) => event === 'payment.refunded');
    expect(refunds).toMatchObject([{ payment_id: payments.pro, plan: 'pro', amount: 2_900 }]);
    expect(await ada.apiLimit()).toBe(5_000_000);
  },
);

test('several sandbox checkouts that start at once are one, which can be paid once', async () => {
  const ada = await signUp();
  const answers = await Promise.all(
    COPIES.map(() => ada.asSession('POST', '/api/init-payment', { plan: 'pro' })),
  );
  const paid = [];
  for (const { body } of answers) paid.push((await press(body.checkout_url as string, 'paid')).status);
  expect(paid.filter((status) => status === 303)).toHaveLength(1);
  expect((await billingRowsOf(ada.accountId)).payments).toMatchObject([{ status: 'paid' }]);
});

test('deleting the account expires its checkout, so that nobody pays for it anymore', async () => {
  const ada = await signUpWithStripe();
  const paymentId = await ada.begin('pro');
  const read = accountsD1.prepare('SELECT status, checkout_ref, expire_due_at FROM payments WHERE id = ?');
  const ref = await read.bind(paymentId).first<string>('checkout_ref');
  const sent = { current_password: ada.password, confirm: ada.email };
  expect((await ada.callApi('DELETE', '/api/account', sent)).status).toBe(202);
  const left = { status: 'replaced', checkout_ref: null, expire_due_at: null };
  expect(await read.bind(paymentId).first()).toEqual(left);
  const requests = await stripeRequests(`${ref}/expire`);
  expect(requests.map(({ answered }) => answered)).toEqual([200]);
});
