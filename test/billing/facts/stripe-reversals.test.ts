import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS } from '../../../src/shared/rules/dates.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { runHourly } from '../../support/hourly.ts';
import { checkoutSession, invoice, type StripeObject } from '../../support/stripe-objects.ts';
import {
  changeCharge,
  changeDispute,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  putDispute,
  signUpWithStripe,
  type StripePayer,
  stripeEnv,
  stripeRequests,
} from '../../support/stripe.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const subscribed = async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const { latest_invoice: first } = await atStripe.put();
  return { ada, atStripe, firstId: (first as StripeObject)['id'] as string };
};

const namesOf = async (ada: StripePayer) => (await ada.events()).map(({ event }) => event);
const billingOf = async (ada: StripePayer) => (await ada.callApi('GET', '/api/billing')).body;
const cancellationsOf = async (id: string) =>
  (await stripeRequests(id)).filter(({ method }) => method === 'DELETE').length;

test('refunding what was paid for this period ends the plan at once, here and at Stripe', async () => {
  const { ada, atStripe, firstId } = await subscribed();
  const answers = await Promise.all([1, 2, 3].map(() => changeCharge(firstId, 2_900)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await ada.apiLimit()).toBe(1_000);
  expect(await billingOf(ada)).toMatchObject({
    plan: 'free',
    subscription: null,
    payments: [{ status: 'refunded' }],
  });
  expect(await cancellationsOf(atStripe.id)).toBeGreaterThan(0);
  expect((await ada.events()).slice(1)).toMatchObject([
    { event: 'payment.refunded', plan: 'pro', amount: 2_900, currency: 'usd' },
    { event: 'subscription.cancelled' },
  ]);
});

test('each partial refund is announced, and the plan goes on until all is given back', async () => {
  const { ada, firstId } = await subscribed();
  await changeCharge(firstId, 900);
  await changeCharge(firstId, 900);
  expect(await ada.apiLimit()).toBe(100_000);
  await changeCharge(firstId, 2_900);
  expect(await ada.apiLimit()).toBe(1_000);
  const refunds = (await ada.events()).filter(({ event }) => event === 'payment.refunded');
  expect(refunds.map(({ amount }) => amount)).toEqual([900, 2_000]);
});

test('a refund or a dispute of an earlier period leaves the plan that is paid for now', async () => {
  const { ada, atStripe, firstId } = await subscribed();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const second = month(RENEWAL_MS, { billing_reason: 'subscription_cycle' });
  await atStripe.bill(second);
  await changeDispute(firstId, 'needs_response');
  expect(await ada.apiLimit()).toBe(100_000);
  await changeCharge(firstId, 2_900);
  expect(await ada.apiLimit()).toBe(100_000);
  await changeCharge(second.id, 2_900);
  expect(await ada.apiLimit()).toBe(1_000);
});

test('a dispute suspends the plan, and winning it gives the plan back', async () => {
  const { ada, firstId } = await subscribed();
  await changeDispute(firstId, 'needs_response');
  expect(await ada.apiLimit()).toBe(1_000);
  expect(await billingOf(ada)).toMatchObject({
    plan: 'free',
    subscription: { status: 'suspended' },
    payments: [{ status: 'disputed' }],
  });
  await changeDispute(firstId, 'won');
  expect(await ada.apiLimit()).toBe(100_000);
  expect(await billingOf(ada)).toMatchObject({ plan: 'pro', payments: [{ status: 'paid' }] });
  const disputes = (await ada.events()).filter(({ event }) => event === 'payment.disputed');
  expect(disputes.map(({ status }) => status)).toEqual(['open', 'won']);
});

test('losing a dispute ends the plan, here and at Stripe', async () => {
  const { ada, atStripe, firstId } = await subscribed();
  await changeDispute(firstId, 'lost');
  expect(await ada.apiLimit()).toBe(1_000);
  expect((await billingOf(ada)).subscription).toBeNull();
  expect(await cancellationsOf(atStripe.id)).toBe(1);
  expect(await namesOf(ada)).toEqual(['payment.success', 'payment.disputed', 'subscription.cancelled']);
});

test('the scheduled run finds that a dispute was won if its notification was lost', async () => {
  const { ada, firstId } = await subscribed();
  await changeDispute(firstId, 'needs_response');
  vi.setSystemTime(START_MS + 2 * DAY_MS);
  await putDispute(firstId, 'won');
  await runHourly(stripeEnv());
  expect(await ada.apiLimit()).toBe(100_000);
});

test('an invoice that is paid after its subscription has ended is given back', async () => {
  const { ada, atStripe } = await subscribed();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const late = month(RENEWAL_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  await atStripe.bill(late);
  await atStripe.end();
  vi.setSystemTime(RENEWAL_MS + DAY_MS);
  const paid = invoice({ ...late, status: 'paid' }, atStripe.id);
  await atStripe.put({ latest_invoice: paid });
  await notify('invoice.paid', paid);
  expect(await ada.apiLimit()).toBe(1_000);
  expect((await stripeRequests(`pi_${late.id}`)).map(({ path }) => path)).toContain('/v1/refunds');
  expect((await billingOf(ada)).payments).toMatchObject([{ status: 'refunded' }, { status: 'paid' }]);
  expect((await namesOf(ada)).at(-1)).toBe('payment.refunded');
});

test('an overdue invoice that is paid while its owner buys anew is given back', async () => {
  const { ada, atStripe } = await subscribed();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const open = month(RENEWAL_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  await atStripe.bill(open);
  const paymentId = await ada.begin('pro');
  // Stripe's retry collects the old invoice, whose notification comes last.
  const paid = invoice({ ...open, status: 'paid' }, atStripe.id);
  await atStripe.put({ status: 'active', latest_invoice: paid });
  const anew = await paidAtStripe(paymentId, await newStripeCustomer(), month(Date.now()));
  await notify('checkout.session.completed', checkoutSession(anew));
  await notify('invoice.paid', paid);
  expect(await ada.apiLimit()).toBe(100_000);
  expect((await billingOf(ada)).payments.map(({ status }: StripeObject) => status)).toEqual([
    'refunded',
    'paid',
    'paid',
  ]);
  expect((await stripeRequests(`pi_${open.id}`)).map(({ path }) => path)).toContain('/v1/refunds');
});
