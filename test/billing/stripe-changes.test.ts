import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { ORIGIN } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import type { StripeObject } from '../support/stripe-objects.ts';
import {
  callIn,
  month,
  notify,
  signUpWithStripe,
  stripeEnv,
  type StripePayer,
  stripeRequests,
} from '../support/stripe.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);

beforeEach(() => {
  useFakeClock(START_MS);
});

const billingOf = async (ada: StripePayer) => (await ada.callApi('GET', '/api/billing')).body;
const eventsOf = async (ada: StripePayer) =>
  (await ada.events()).map(({ event, plan, amount }) => `${event} ${plan} ${amount ?? ''}`.trim());

/** Submits the page that asks for a change of plan. */
const press = (url: string, outcome: string) =>
  callIn(
    stripeEnv(),
    new Request(url, {
      method: 'POST',
      body: `outcome=${outcome}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
  );

/** Asks for a plan and confirms it. */
const change = async (ada: StripePayer, plan: string, outcome = 'paid') => {
  const { status, body } = await ada.callApi('POST', '/api/init-payment', { plan });
  expect([status, body.checkout_url]).toEqual([201, `${ORIGIN}/checkout/${body.payment_id}`]);
  const page = await callIn(stripeEnv(), new Request(body.checkout_url));
  expect(page.body).toContain(`Latchkey ${plan}`);
  return press(body.checkout_url, outcome);
};

const changesAt = async (id: string) =>
  (await stripeRequests(id)).filter(({ method }) => method !== 'GET').map(({ form }) => form);

test('an upgrade changes the subscription at Stripe and charges the difference alone', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  vi.setSystemTime(START_MS + DAY_MS);
  await atStripe.put({ difference: 16_450 });
  expect((await change(ada, 'scale')).status).toBe(303);
  expect(await changesAt(atStripe.id)).toMatchObject([
    {
      'items[0][id]': 'si_1',
      'items[0][price_data][product]': 'latchkey_scale',
      'items[0][price_data][unit_amount]': '19900',
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
    },
  ]);
  expect(await ada.apiLimit()).toBe(5_000_000);
  expect(await ada.billingRows()).toMatchObject({
    subscriptions: [{ plan: 'scale', status: 'active' }],
    payments: [
      { plan: 'pro', status: 'paid', amount: 2_900 },
      { plan: 'scale', status: 'paid', amount: 16_450 },
    ],
  });
  expect(await eventsOf(ada)).toEqual(['payment.success pro 2900', 'payment.success scale 16450']);
});

test('a downgrade keeps what is left as a credit and is no payment', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('scale');
  vi.setSystemTime(START_MS + DAY_MS);
  expect((await change(ada, 'pro')).status).toBe(303);
  expect(await ada.apiLimit()).toBe(100_000);
  expect(await eventsOf(ada)).toEqual(['payment.success scale 19900']);
  expect((await billingOf(ada)).payments).toMatchObject([
    { plan: 'pro', status: 'paid', amount: 0 },
    { plan: 'scale', status: 'paid' },
  ]);
  expect((await stripeRequests(atStripe.id)).some(({ method }) => method === 'DELETE')).toBe(false);
  // The next invoice is paid by the credit.
  vi.setSystemTime(addMonths(START_MS, 1) + 5_000);
  await atStripe.bill(month(addMonths(START_MS, 1), { billing_reason: 'subscription_cycle', amount: 0 }));
  expect(await billingOf(ada)).toMatchObject({
    plan: 'pro',
    subscription: { period_end: isoTime(addMonths(START_MS, 2)) },
  });
  expect(await eventsOf(ada)).toEqual(['payment.success scale 19900']);
});

test('an upgrade whose card is declined leads to the invoice, and leaves the plan until it is paid', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await atStripe.put({ difference: 16_450, declines: true });
  const { status, headers } = await change(ada, 'scale');
  expect([status, headers.get('location')]).toEqual([303, 'https://invoice.example/pay']);
  expect(await ada.apiLimit()).toBe(100_000);
  const { latest_invoice, pending_update } = await atStripe.put();
  const paid = { ...(latest_invoice as StripeObject), status: 'paid', amount_paid: 16_450 };
  const { subscription_items: data } = pending_update as StripeObject;
  await atStripe.put({ latest_invoice: paid, items: { data }, pending_update: null });
  await notify('invoice.paid', paid);
  expect(await ada.apiLimit()).toBe(5_000_000);
  expect(await eventsOf(ada)).toEqual(['payment.success pro 2900', 'payment.success scale 16450']);
});

test('an invoice of a change that is paid is found also if its notification was lost', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await atStripe.put({ difference: 16_450, declines: true });
  await change(ada, 'scale');
  const { latest_invoice, pending_update } = await atStripe.put();
  const paid = { ...(latest_invoice as StripeObject), status: 'paid', amount_paid: 16_450 };
  const { subscription_items: data } = pending_update as StripeObject;
  await atStripe.put({ latest_invoice: paid, items: { data }, pending_update: null });
  vi.setSystemTime(START_MS + 60_000);
  expect(await billingOf(ada)).toMatchObject({
    plan: 'scale',
    payments: [{ plan: 'scale', status: 'paid', amount: 16_450 }, { plan: 'pro' }],
  });
});

test('a change that is not confirmed changes nothing', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  expect((await change(ada, 'scale', 'declined')).status).toBe(303);
  expect(await changesAt(atStripe.id)).toEqual([]);
  expect((await billingOf(ada)).payments[0].status).toBe('declined');
});

test('a change that is confirmed twice is made once', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await atStripe.put({ difference: 16_450 });
  const { body } = await ada.callApi('POST', '/api/init-payment', { plan: 'scale' });
  await Promise.all([press(body.checkout_url, 'paid'), press(body.checkout_url, 'paid')]);
  const keys = (await stripeRequests(atStripe.id)).flatMap(({ headers, form }) =>
    form['items[0][id]'] ? [headers['idempotency-key']] : [],
  );
  expect(new Set(keys)).toEqual(new Set([body.payment_id]));
  expect((await billingOf(ada)).plan).toBe('scale');
});

test('buying a canceled plan again lets it go on and charges nothing', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await ada.callApi('POST', '/api/cancel-subscription');
  expect((await change(ada, 'pro')).status).toBe(303);
  expect(await changesAt(atStripe.id)).toEqual([
    { cancel_at_period_end: 'true' },
    { cancel_at_period_end: 'false' },
  ]);
  expect((await billingOf(ada)).subscription).toMatchObject({ status: 'active', ends_at: null });
  expect(await eventsOf(ada)).toEqual(['payment.success pro 2900', 'subscription.cancelled pro']);
});

test('resume-subscription lets a canceled subscription go on, here and at Stripe', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const resume = (environment?: Env) => ada.callApi('POST', '/api/resume-subscription', {}, environment);
  expect((await resume()).body.error.code).toBe('invalid_transition');
  await ada.callApi('POST', '/api/cancel-subscription');
  const down = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });
  expect((await resume(down)).body.error.code).toBe('unavailable');
  const { status, body } = await resume();
  expect([status, body.subscription]).toMatchObject([
    200,
    { plan: 'pro', status: 'active', cancelled_at: null, ends_at: null },
  ]);
  expect((await atStripe.put())['cancel_at_period_end']).toBe(false);
  // It can be canceled again, and ends then.
  await ada.callApi('POST', '/api/cancel-subscription', { at: 'now' });
  expect((await resume()).body.error.code).toBe('no_active_subscription');
});

test('billing-portal returns Stripe’s page for an account that has paid', async () => {
  const ada = await signUpWithStripe();
  const open = () => ada.callApi('POST', '/api/billing-portal');
  expect((await open()).body.error.code).toBe('no_active_subscription');
  const { customer } = await ada.subscribe();
  expect((await open()).body).toEqual({ url: `https://billing.example/${customer}` });
});

test('a repeat with the same Idempotency-Key gets the first answer', async () => {
  const ada = await signUpWithStripe();
  const send = (path: string, body: unknown, key: string) =>
    ada.callApi('POST', `/api/${path}`, body, stripeEnv(), { 'idempotency-key': key });
  const first = await send('init-payment', { plan: 'pro' }, 'pay-1');
  await ada.begin('scale');
  expect((await send('init-payment', { plan: 'pro' }, 'pay-1')).body).toEqual(first.body);
  expect((await send('init-payment', { plan: 'scale' }, 'pay-1')).body.error.code).toBe(
    'idempotency_conflict',
  );
  await ada.subscribe();
  const cancels = [1, 2, 3].map(() => send('cancel-subscription', {}, 'cancel-1'));
  expect((await Promise.all(cancels)).map(({ status }) => status)).toEqual([200, 200, 200]);
  const resumes = [1, 2].map(() => send('resume-subscription', {}, 'resume-1'));
  expect((await Promise.all(resumes)).map(({ status }) => status)).toEqual([200, 200]);
});
