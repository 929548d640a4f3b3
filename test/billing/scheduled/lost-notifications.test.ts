import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS } from '../../../src/shared/rules/dates.ts';
import { ORIGIN, signUp } from '../../support/client.ts';
import { countQueries } from '../../support/d1-queries.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { doWork, runHourly } from '../../support/hourly.ts';
import { invoice, items } from '../../support/stripe-objects.ts';
import {
  callIn,
  changeSession,
  month,
  newStripeCustomer,
  paidAtStripe,
  signUpWithStripe,
  stripeEnv,
  type StripePayer,
  stripeRequests,
} from '../../support/stripe.ts';
import { billingRowsOf, subscribe } from '../sandbox.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const beginCheckout = async (ada: StripePayer) => {
  const paymentId = await ada.begin('pro');
  const [row] = (
    await accountsD1
      .prepare('SELECT checkout_ref FROM payments WHERE id = ?')
      .bind(paymentId)
      .all<{ checkout_ref: string }>()
  ).results;
  return { paymentId, sessionId: row!.checkout_ref };
};

/** Pays a checkout at Stripe, whose notification is lost. */
const payUnnoticed = async (ada: StripePayer) => {
  const checkout = await beginCheckout(ada);
  const { id } = await paidAtStripe(checkout.paymentId, await newStripeCustomer(), month(Date.now()));
  await changeSession(checkout.sessionId, { status: 'complete', subscription: id });
  return checkout;
};

const readsOf = async (id: string) =>
  (await stripeRequests(id)).filter(({ method, path }) => method === 'GET' && path.endsWith(id)).length;

test('GET /api/billing finds a payment whose notification was lost', async () => {
  const ada = await signUpWithStripe();
  await payUnnoticed(ada);
  const { body } = await ada.callApi('GET', '/api/billing');
  expect(body).toMatchObject({
    plan: 'pro',
    subscription: { status: 'active' },
    payments: [{ status: 'paid' }],
  });
  expect(await ada.apiLimit()).toBe(100_000);
});

test('the page after checkout finds a payment whose notification was lost', async () => {
  const ada = await signUpWithStripe();
  const { paymentId } = await payUnnoticed(ada);
  const page = await callIn(stripeEnv(), new Request(`${ORIGIN}/checkout/${paymentId}`));
  expect(page.body).toContain('The plan is active.');
  expect(await ada.apiLimit()).toBe(100_000);
});

test('a pending payment is looked up at most once every five seconds', async () => {
  const ada = await signUpWithStripe();
  const { paymentId, sessionId } = await beginCheckout(ada);
  const look = () =>
    Promise.all([
      ada.callApi('GET', '/api/billing'),
      callIn(stripeEnv(), new Request(`${ORIGIN}/checkout/${paymentId}`)),
    ]);
  await look();
  vi.setSystemTime(START_MS + 4_999);
  await look();
  expect(await readsOf(sessionId)).toBe(1);
  vi.setSystemTime(START_MS + 5_000);
  const [billing] = await look();
  expect(await readsOf(sessionId)).toBe(2);
  expect(billing.body.payments).toMatchObject([{ status: 'pending' }]);
});

test('while Stripe is down, GET /api/billing shows the payment as pending', async () => {
  const ada = await signUpWithStripe();
  await payUnnoticed(ada);
  const down = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });
  const { status, body } = await ada.callApi('GET', '/api/billing', {}, down);
  expect([status, body.payments[0].status]).toEqual([200, 'pending']);
});

test('the scheduled run finds a paid and an expired checkout, and asks about each once a day', async () => {
  const [paid, expired, open] = [
    await signUpWithStripe(),
    await signUpWithStripe(),
    await signUpWithStripe(),
  ];
  await payUnnoticed(paid);
  await changeSession((await beginCheckout(expired)).sessionId, { status: 'expired' });
  const { sessionId } = await beginCheckout(open);
  await runHourly(stripeEnv());
  expect(await paid.billingRows()).toMatchObject({
    account: [{ plan: 'pro' }],
    payments: [{ status: 'paid' }],
  });
  expect(await expired.billingRows()).toMatchObject({
    account: [{ plan: 'free' }],
    payments: [{ status: 'expired' }],
  });
  vi.setSystemTime(START_MS + DAY_MS - 1);
  await runHourly(stripeEnv());
  expect(await readsOf(sessionId)).toBe(1);
  vi.setSystemTime(START_MS + DAY_MS);
  await runHourly(stripeEnv());
  expect(await readsOf(sessionId)).toBe(2);
  expect((await open.billingRows()).payments).toMatchObject([{ status: 'pending' }]);
});

test('the scheduled run finds a lost renewal, a lost payment of a past-due invoice, and a lost end', async () => {
  const next = month(RENEWAL_MS, { billing_reason: 'subscription_cycle' });
  const [renewed, unpaid, ended] = [
    await signUpWithStripe(),
    await signUpWithStripe(),
    await signUpWithStripe(),
  ];
  const renewedAtStripe = await renewed.subscribe();
  const unpaidAtStripe = await unpaid.subscribe();
  const endedAtStripe = await ended.subscribe();
  await runHourly(stripeEnv());
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const late = { ...next, id: `${next.id}_late` };
  await unpaidAtStripe.bill({ ...late, status: 'open' });
  await renewedAtStripe.put({ items: items(next), latest_invoice: invoice(next, renewedAtStripe.id) });
  await unpaidAtStripe.put({ status: 'active', latest_invoice: invoice(late, unpaidAtStripe.id) });
  await endedAtStripe.put({ status: 'canceled', ended_at: RENEWAL_MS / 1_000 });
  await runHourly(stripeEnv());

  const inForce = { plan: 'pro', period_start: RENEWAL_MS, plan_until: null };
  for (const ada of [renewed, unpaid]) {
    expect(await ada.billingRows()).toMatchObject({
      account: [inForce],
      subscriptions: [{ status: 'active' }],
      payments: [{ status: 'paid' }, { status: 'paid' }],
    });
  }
  expect((await ended.billingRows()).subscriptions).toMatchObject([{ status: 'ended' }]);
  expect(await ended.apiLimit()).toBe(1_000);
});

test('a run that finds Stripe down leaves the rest to the next run', async () => {
  const payers = [];
  for (let i = 0; i < 7; i++) payers.push(await signUpWithStripe());
  for (const ada of payers) await payUnnoticed(ada);
  await runHourly(stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' }));
  await runHourly(stripeEnv());
  const rows = await Promise.all(payers.map((ada) => ada.billingRows()));
  expect(rows.filter(({ account }) => account[0]?.plan === 'pro')).toHaveLength(2);
  vi.setSystemTime(START_MS + DAY_MS);
  await runHourly(stripeEnv());
  expect(await Promise.all(payers.map((ada) => ada.apiLimit()))).toEqual(payers.map(() => 100_000));
});

test('a message asks about five payments, with a part of the queries that D1 allows, and leaves the others to the next', async () => {
  const payers = [];
  for (let i = 0; i < 6; i++) payers.push(await signUpWithStripe());
  for (const ada of payers) await payUnnoticed(ada);
  let isMore = false;
  const check = (name: string) =>
    countQueries(async (environment) => {
      isMore = await doWork(name, environment);
    }, stripeEnv());
  expect(await check('checkPayments')).toBeLessThan(300);
  expect(isMore).toBe(true);
  expect(await check('checkPayments')).toBeLessThan(100);
  expect(isMore).toBe(false);
  expect(await Promise.all(payers.map((ada) => ada.apiLimit()))).toEqual(payers.map(() => 100_000));
});

test('the scheduled run ends a canceled sandbox subscription at its end', async () => {
  const ada = await signUp();
  await subscribe(ada);
  await ada.asKey('POST', '/api/cancel-subscription');
  vi.setSystemTime(RENEWAL_MS);
  await runHourly();
  expect((await billingRowsOf(ada.accountId)).subscriptions).toMatchObject([
    { status: 'ended', ends_at: RENEWAL_MS },
  ]);
});
