import { describe, expect, test } from 'vitest';
import { ORIGIN } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { checkoutSession } from '../support/stripe-objects.ts';
import {
  stripeRequests,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  ref,
  signUpWithStripe,
  stripeEnv,
} from '../support/stripe.ts';

/** Requests to create a checkout session for this account. */
const sessionRequests = async (accountId: string) =>
  (await stripeRequests(accountId)).filter(({ path }) => path === '/v1/checkout/sessions');

/** Nothing listens on this port. */
const STRIPE_DOWN = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });

test('init-payment creates a Stripe checkout session for a monthly subscription at the plan’s price', async () => {
  const ada = await signUpWithStripe();
  const begun = await ada.callApi('POST', '/api/init-payment', { plan: 'scale' });
  expect(begun.status).toBe(201);
  expect(begun.body).toMatchObject({
    provider: 'stripe',
    plan: 'scale',
    amount: 19_900,
    currency: 'usd',
    status: 'pending',
    checkout_url: expect.stringMatching(/^http:.*\/checkout\/cs_/),
  });
  const [request] = await sessionRequests(ada.accountId);
  expect(request).toMatchObject({
    answered: 200,
    headers: {
      authorization: 'Bearer sk_test_x',
      'idempotency-key': begun.body.payment_id,
      'stripe-version': '2026-10-28.endive',
    },
    form: {
      mode: 'subscription',
      customer_email: ada.email,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '19900',
      'line_items[0][price_data][recurring][interval]': 'month',
      'metadata[latchkey_payment_id]': begun.body.payment_id,
      'metadata[latchkey_account_id]': ada.accountId,
      'subscription_data[metadata][latchkey_payment_id]': begun.body.payment_id,
      'subscription_data[metadata][latchkey_account_id]': ada.accountId,
      success_url: `${ORIGIN}/checkout/${begun.body.payment_id}`,
      cancel_url: `${ORIGIN}/checkout/${begun.body.payment_id}`,
    },
  });
});

test('the next checkout reuses the Stripe customer and expires the pending checkout session', async () => {
  const ada = await signUpWithStripe();
  const pro = await ada.subscribe('pro');
  await pro.end();
  await ada.begin('scale');
  await ada.callApi('POST', '/api/init-payment', { plan: 'scale', success_url: '/billing' });
  const [first, second, third] = (await sessionRequests(ada.accountId)).map(({ form }) => form);
  expect(first).not.toHaveProperty('customer');
  expect(second).toMatchObject({ customer: pro.customer });
  expect(second).not.toHaveProperty('customer_email');
  expect(third).toMatchObject({ customer: pro.customer });
  const { results } = await accountsD1
    .prepare("SELECT status, checkout_ref FROM payments WHERE account_id = ? AND plan = 'scale' ORDER BY id")
    .bind(ada.accountId)
    .all<{ status: string; checkout_ref: string }>();
  expect(results.map(({ status }) => status)).toEqual(['replaced', 'pending']);
  expect(await stripeRequests(results[0]!.checkout_ref)).toMatchObject([
    { path: `/v1/checkout/sessions/${results[0]!.checkout_ref}/expire`, answered: 200 },
  ]);
});

test('a notification with a wrong signature is rejected and changes nothing', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await paidAtStripe(await ada.begin('pro'), await newStripeCustomer(), month(Date.now()));
  const session = checkoutSession(atStripe);
  const refused = await notify('checkout.session.completed', session, { secret: 'whsec_other' });
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({ code: 'invalid_request', details: [{ path: 'signature' }] });
  expect(await stripeRequests(atStripe.id)).toEqual([]);
  expect(await ada.billingRows()).toMatchObject({ subscriptions: [], payments: [{ status: 'pending' }] });
  expect(await ada.apiLimit()).toBe(1_000);
});

describe('a notification', () => {
  test('of an unrelated type answers 200', async () => {
    expect(await notify('customer.created', { id: ref('cus'), object: 'customer' })).toMatchObject({
      status: 200,
      body: { received: true },
    });
  });

  test.for([
    { name: 'with an unknown payment id', metadata: { latchkey_payment_id: 'not-ours' } },
    { name: 'without a payment id', metadata: {} },
  ])('about a subscription $name answers 200 and changes nothing', async ({ metadata }) => {
    const foreign = await paidAtStripe('not-ours', await newStripeCustomer(), month(Date.now()));
    await foreign.put({ metadata });
    expect((await notify('checkout.session.completed', checkoutSession(foreign))).status).toBe(200);
    const { results } = await accountsD1
      .prepare("SELECT name FROM applied_facts WHERE name LIKE '%not-ours%'")
      .all();
    expect(results).toEqual([]);
  });
});

test('five parallel copies of a notification record one payment', async () => {
  const ada = await signUpWithStripe();
  const payment = await ada.begin('pro');
  const atStripe = await paidAtStripe(payment, await newStripeCustomer(), month(Date.now()));
  const id = ref('evt');
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => notify('checkout.session.completed', checkoutSession(atStripe), { id })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(await ada.billingRows()).toMatchObject({
    account: [{ plan: 'pro' }],
    subscriptions: [{ status: 'active' }],
    payments: [{ status: 'paid' }],
  });
  expect(await ada.events()).toMatchObject([
    { event: 'payment.success', payment_id: payment, plan: 'pro', amount: 2_900, currency: 'usd' },
  ]);
  expect(await ada.apiLimit()).toBe(100_000);
  const methods = (await stripeRequests(atStripe.id)).map(({ method }) => method);
  expect(new Set(methods)).toEqual(new Set(['GET']));
});

describe('while Stripe is down', () => {
  test('init-payment fails without revealing why, and succeeds afterwards', async () => {
    const ada = await signUpWithStripe();
    const failed = await ada.callApi('POST', '/api/init-payment', { plan: 'pro' }, STRIPE_DOWN);
    expect(failed.status).toBe(503);
    expect(JSON.stringify(failed.body)).not.toMatch(/stripe|sk_test|127\.0\.0\.1|connection/i);
    expect(await ada.apiLimit()).toBe(1_000);
    await ada.begin('pro');
  });

  test('a notification fails without changing anything, and succeeds when Stripe sends it again', async () => {
    const ada = await signUpWithStripe();
    const atStripe = await paidAtStripe(await ada.begin('pro'), await newStripeCustomer(), month(Date.now()));
    const session = checkoutSession(atStripe);
    const failed = await notify('checkout.session.completed', session, { environment: STRIPE_DOWN });
    expect(failed.status).toBe(503);
    expect(JSON.stringify(failed.body)).not.toMatch(/sk_test|127\.0\.0\.1/);
    expect(await ada.billingRows()).toMatchObject({ subscriptions: [], payments: [{ status: 'pending' }] });
    expect((await notify('checkout.session.completed', session)).status).toBe(200);
    expect(await ada.apiLimit()).toBe(100_000);
  });

  test('cancel-subscription fails and leaves the subscription active', async () => {
    const ada = await signUpWithStripe();
    await ada.subscribe();
    const failed = await ada.callApi('POST', '/api/cancel-subscription', {}, STRIPE_DOWN);
    expect(failed.status).toBe(503);
    expect((await ada.callApi('GET', '/api/billing')).body.subscription.status).toBe('active');
  });
});
