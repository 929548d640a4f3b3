import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS, isoTime } from '../../../src/shared/rules/dates.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { checkoutSession, invoice } from '../../support/stripe-objects.ts';
import {
  stripeRequests,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  signUpWithStripe,
} from '../../support/stripe.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const nextMonth = (status: 'paid' | 'open') =>
  month(RENEWAL_MS, { status, billing_reason: 'subscription_cycle' });

test('repeated notifications of a renewal start one new period and create one event', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const renewal = nextMonth('paid');
  expect((await atStripe.bill(renewal)).status).toBe(200);
  await Promise.all([1, 2, 3].map(() => notify('invoice.paid', invoice(renewal, atStripe.id))));

  const { body } = await ada.callApi('GET', '/api/billing');
  expect(body).toMatchObject({
    plan: 'pro',
    subscription: {
      status: 'active',
      period_start: isoTime(RENEWAL_MS),
      period_end: isoTime(addMonths(START_MS, 2)),
    },
    payments: [
      { status: 'paid', amount: 2_900 },
      { status: 'paid', amount: 2_900 },
    ],
  });
  expect(await ada.events()).toMatchObject([
    { event: 'payment.success', payment_id: body.payments[1].payment_id },
    { event: 'payment.success', payment_id: body.payments[0].payment_id, plan: 'pro', amount: 2_900 },
  ]);
});

test('after a failed payment the paid limits apply for seven days, then the free limits until the invoice is paid', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const unpaid = nextMonth('open');
  expect((await atStripe.bill(unpaid)).status).toBe(200);
  expect((await ada.callApi('GET', '/api/billing')).body).toMatchObject({
    plan: 'pro',
    subscription: { status: 'past_due', ends_at: isoTime(RENEWAL_MS + 5_000 + 7 * DAY_MS) },
  });
  // Further failed attempts don't extend the seven days.
  vi.setSystemTime(RENEWAL_MS + 3 * DAY_MS);
  await notify('invoice.payment_failed', invoice(unpaid, atStripe.id));
  vi.setSystemTime(RENEWAL_MS + 5_000 + 7 * DAY_MS - 1);
  expect(await ada.apiLimit()).toBe(100_000);
  vi.setSystemTime(RENEWAL_MS + 5_000 + 7 * DAY_MS);
  expect(await ada.apiLimit()).toBe(1_000);
  expect((await ada.callApi('GET', '/api/billing')).body.plan).toBe('free');

  await atStripe.bill({ ...unpaid, status: 'paid' });
  expect(await ada.apiLimit()).toBe(100_000);
  expect((await ada.callApi('GET', '/api/billing')).body).toMatchObject({
    plan: 'pro',
    subscription: { status: 'active', period_start: isoTime(RENEWAL_MS) },
  });
  expect((await ada.events()).map(({ event }) => event)).toEqual([
    'payment.success',
    'payment.failed',
    'payment.success',
  ]);
});

test('canceling an unpaid subscription ends it at the end of its seven-day grace period', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  await atStripe.bill(nextMonth('open'));
  const { body } = await ada.callApi('POST', '/api/cancel-subscription');
  expect(body.subscription.ends_at).toBe(isoTime(RENEWAL_MS + 5_000 + 7 * DAY_MS));
});

test('a subscription that ends at Stripe ends the plan immediately and creates one event', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(START_MS + DAY_MS);
  const answers = await Promise.all([atStripe.end(), atStripe.end(), atStripe.end()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await ada.apiLimit()).toBe(1_000);
  expect(await ada.events()).toMatchObject([
    { event: 'payment.success' },
    { event: 'subscription.cancelled', plan: 'pro', ends_at: isoTime(START_MS + DAY_MS) },
  ]);
  expect((await ada.callApi('GET', '/api/billing')).body).toMatchObject({ plan: 'free', subscription: null });
  expect((await ada.callApi('POST', '/api/cancel-subscription')).body.error.code).toBe(
    'no_active_subscription',
  );
});

test('an invoice paid after its subscription ended does not restore the plan', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const late = nextMonth('open');
  await atStripe.bill(late);
  await atStripe.end();
  const paidLate = invoice({ ...late, status: 'paid' }, atStripe.id);
  await atStripe.put({ latest_invoice: paidLate });
  expect((await notify('invoice.paid', paidLate)).status).toBe(200);
  expect(await ada.apiLimit()).toBe(1_000);
  expect((await ada.billingRows()).subscriptions).toMatchObject([{ status: 'ended' }]);
});

test('a deletion that arrives before the completed checkout leaves an ended subscription', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await paidAtStripe(await ada.begin('pro'), await newStripeCustomer(), month(START_MS));
  expect((await atStripe.end()).status).toBe(200);
  expect((await notify('checkout.session.completed', checkoutSession(atStripe))).status).toBe(200);
  expect(await ada.billingRows()).toMatchObject({
    subscriptions: [{ status: 'ended' }],
    payments: [{ status: 'paid' }],
  });
  expect(await ada.apiLimit()).toBe(1_000);
  expect((await ada.events()).map(({ event }) => event)).toEqual([
    'payment.success',
    'subscription.cancelled',
  ]);
});

test('canceling stops the renewal at Stripe, and canceling with at=now ends the subscription at Stripe', async () => {
  const ada = await signUpWithStripe();
  const { id } = await ada.subscribe();
  const changes = async () =>
    (await stripeRequests(id))
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path, form }) => ({ method, path, form }));
  const later = await ada.callApi('POST', '/api/cancel-subscription');
  expect(later.body.subscription).toMatchObject({ status: 'cancelled', ends_at: isoTime(RENEWAL_MS) });
  const stopRenewal = {
    method: 'POST',
    path: `/v1/subscriptions/${id}`,
    form: { cancel_at_period_end: 'true' },
  };
  expect(await changes()).toEqual([stopRenewal]);
  expect(await ada.apiLimit()).toBe(100_000);

  const now = await ada.callApi('POST', '/api/cancel-subscription', { at: 'now' });
  expect(now.body.subscription).toMatchObject({ status: 'cancelled', ends_at: isoTime(START_MS) });
  expect(await changes()).toEqual([
    stopRenewal,
    { method: 'DELETE', path: `/v1/subscriptions/${id}`, form: {} },
  ]);
  expect(await ada.apiLimit()).toBe(1_000);
  expect((await ada.events()).map(({ event }) => event)).toEqual([
    'payment.success',
    'subscription.cancelled',
  ]);
});

test('a renewal paid after the cancellation keeps the plan until the end of the paid period', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS - 1_000);
  await ada.callApi('POST', '/api/cancel-subscription');
  vi.setSystemTime(RENEWAL_MS + 5_000);
  await atStripe.bill(nextMonth('paid'));
  expect(await ada.apiLimit()).toBe(100_000);
  vi.setSystemTime(addMonths(START_MS, 2));
  expect(await ada.apiLimit()).toBe(1_000);
});

test('cancel-subscription succeeds for a subscription that Stripe has already canceled', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  await atStripe.put({ status: 'canceled' });
  expect((await ada.callApi('POST', '/api/cancel-subscription')).status).toBe(200);
});

test('a deletion that Stripe reports during a cancellation creates no second event', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  await atStripe.hold();
  const cancelling = ada.callApi('POST', '/api/cancel-subscription', { at: 'now' });
  await expect
    .poll(async () => (await stripeRequests(atStripe.id)).map(({ method }) => method))
    .toContain('DELETE');
  expect((await atStripe.end()).status).toBe(200);
  await atStripe.release();
  expect(await cancelling).toMatchObject({ status: 200, body: { subscription: { status: 'cancelled' } } });
  expect(await ada.apiLimit()).toBe(1_000);
  expect((await ada.events()).map(({ event }) => event)).toEqual([
    'payment.success',
    'subscription.cancelled',
  ]);
});

test('two checkouts paid at the same time leave one active subscription, also at Stripe', async () => {
  const ada = await signUpWithStripe();
  const paid = [];
  for (const plan of ['pro', 'scale']) {
    paid.push(await paidAtStripe(await ada.begin(plan), await newStripeCustomer(), month(START_MS)));
  }
  await Promise.all(paid.map((checkout) => notify('checkout.session.completed', checkoutSession(checkout))));
  const { subscriptions, payments } = await ada.billingRows();
  expect(subscriptions.map(({ status }) => status).toSorted()).toEqual(['active', 'ended']);
  expect(payments.map(({ status }) => status).toSorted()).toEqual(['paid', 'refunded']);
  const cancellations = await Promise.all(
    paid.map(async ({ id }) => (await stripeRequests(id)).filter(({ method }) => method === 'DELETE').length),
  );
  expect(cancellations.toSorted((a, b) => a - b)).toEqual([0, 1]);
});
