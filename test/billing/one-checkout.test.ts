import { createScheduledController } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
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

test('of several Stripe checkouts started at once one stays payable, and the others are expired', async () => {
  const ada = await signUpWithStripe();
  const answers = await Promise.all(
    COPIES.map(() => ada.callApi('POST', '/api/init-payment', { plan: 'pro' })),
  );

  const { results } = await accountsD1
    .prepare('SELECT status, checkout_ref FROM payments WHERE account_id = ?')
    .bind(ada.accountId)
    .all<{ status: string; checkout_ref: string }>();
  expect(results.map(({ status }) => status).toSorted()).toEqual([
    'pending',
    ...COPIES.slice(1).map(() => 'replaced'),
  ]);
  for (const { status, checkout_ref } of results) {
    const requests = await stripeRequests(`${checkout_ref}/expire`);
    expect(requests.map(({ answered }) => answered)).toEqual(status === 'replaced' ? [200] : []);
  }
  const outcomes = new Set(answers.map(({ status, body }) => `${status} ${body.error?.code ?? 'pending'}`));
  expect(outcomes.add('409 invalid_transition')).toEqual(new Set(['201 pending', '409 invalid_transition']));
});

const runScheduled = (environment = stripeEnv()) =>
  worker.scheduled(createScheduledController(), environment);

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
  await runScheduled(down);
  expect(await isDue()).toBe(true);
  vi.advanceTimersByTime(HOUR_MS);
  await runScheduled();
  await runScheduled();
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
  await runScheduled();
  expect([await ada.apiLimit(), await isDue()]).toEqual([100_000, false]);
});

test('a replaced checkout is no longer expired once Stripe has closed it', async () => {
  useFakeClock();
  const { down, isDue } = await replaceWhileStripeIsDown();
  vi.advanceTimersByTime(2 * DAY_MS);
  await runScheduled(down);
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
    expect(rows.map(({ status }) => status)).toEqual(['paid', 'paid']);
    expect(await ada.apiLimit()).toBe(5_000_000);
  },
);

test('of two sandbox checkouts started at once one can be paid', async () => {
  const ada = await signUp();
  const answers = await Promise.all(
    COPIES.map(() => ada.asSession('POST', '/api/init-payment', { plan: 'pro' })),
  );
  const urls = answers.filter(({ status }) => status === 201).map(({ body }) => body.checkout_url as string);
  const paid = [];
  for (const url of urls) paid.push((await press(url, 'paid')).status);
  expect(paid.filter((status) => status === 303)).toHaveLength(1);
  expect(
    (await billingRowsOf(ada.accountId)).payments.filter(({ status }) => status === 'paid'),
  ).toHaveLength(1);
});

test('deleting the account expires its checkout, so that nobody pays for it anymore', async () => {
  const ada = await signUpWithStripe();
  const paymentId = await ada.begin('pro');
  const sent = { current_password: ada.password, confirm: ada.email };
  expect((await ada.callApi('DELETE', '/api/account', sent)).status).toBe(202);
  const read = accountsD1.prepare('SELECT status, checkout_ref, expire_due_at FROM payments WHERE id = ?');
  const row = await read.bind(paymentId).first();
  expect(row).toMatchObject({ status: 'replaced', expire_due_at: null });
  const requests = await stripeRequests(`${String(row?.checkout_ref)}/expire`);
  expect(requests.map(({ answered }) => answered)).toEqual([200]);
});
