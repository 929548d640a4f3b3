import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { runHourly } from '../../support/hourly.ts';
import { type Invoice, invoice, type StripeObject } from '../../support/stripe-objects.ts';
import {
  changeCharge,
  changeDispute,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  putCharge,
  signUpWithStripe,
  stripeEnv,
  type StripePayer,
} from '../../support/stripe.ts';

// Bank debits whose first payment bounces, so that another invoice begins the plan, or none.

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const billingOf = async (ada: StripePayer) => (await ada.callApi('GET', '/api/billing')).body;
const eventsOf = async (ada: StripePayer) => (await ada.events()).map(({ event, amount }) => [event, amount]);

/** A bank debit whose first payment has bounced, and whose subscription goes on into its second month. */
const withBouncedDebit = async (status: Invoice['status']) => {
  const ada = await signUpWithStripe();
  const first = month(START_MS, { status: 'open' });
  const debit = await paidAtStripe(await ada.begin('pro'), await newStripeCustomer(), first);
  await debit.put({ status: 'past_due' });
  await notify('invoice.payment_failed', invoice(first, debit.id));
  vi.setSystemTime(RENEWAL_MS + HOUR_MS);
  const next = month(RENEWAL_MS, { billing_reason: 'subscription_cycle', status, amount: 1_900 });
  await debit.bill(next);
  return { ada, debit, first };
};

test('a bank debit that has bounced buys nothing, also once its next invoice is overdue, or it has ended', async () => {
  const { ada, debit } = await withBouncedDebit('open');
  const nothing = { account: [{ plan: 'free' }], subscriptions: [], payments: [{ amount: 2_900 }] };
  const rows = await ada.billingRows();
  expect(rows).toMatchObject(nothing);
  expect(rows.payments[0]?.status).not.toBe('paid');
  await debit.end();
  expect(await ada.billingRows()).toMatchObject(nothing);
  expect(await ada.events()).toEqual([]);
});

test('after a bank debit has bounced, the first invoice that is paid begins the plan, once and with its amount', async () => {
  const { ada } = await withBouncedDebit('paid');
  expect(await ada.billingRows()).toMatchObject({
    account: [{ plan: 'pro' }],
    subscriptions: [{ status: 'active' }],
    payments: [{ status: 'paid', amount: 1_900 }],
  });
  expect(await eventsOf(ada)).toEqual([['payment.success', 1_900]]);
});

test('a plan that an earlier release began with an invoice that was never paid fails and ends', async () => {
  const ada = await signUpWithStripe();
  const first = month(START_MS, { status: 'open' });
  const paymentId = await ada.begin('pro');
  const debit = await paidAtStripe(paymentId, await newStripeCustomer(), first);
  // As that release wrote it while the debit of the second month was under way.
  const [startMs, endMs] = [RENEWAL_MS, addMonths(RENEWAL_MS, 1)];
  await accountsD1.batch([
    accountsD1
      .prepare("UPDATE payments SET status = 'paid', subscription_id = 'sub_old' WHERE id = ?")
      .bind(paymentId),
    accountsD1
      .prepare(
        `INSERT INTO subscriptions (id, account_id, provider, provider_ref, plan, status, period_start, period_end, created_at, updated_at)
         VALUES ('sub_old', ?1, 'stripe', ?2, 'pro', 'active', ?3, ?4, ?3, ?3)`,
      )
      .bind(ada.accountId, debit.id, startMs, endMs),
    accountsD1
      .prepare("UPDATE accounts SET plan = 'pro', period_start = ?, period_end = ? WHERE id = ?")
      .bind(startMs, endMs, ada.accountId),
  ]);
  vi.setSystemTime(startMs + 5 * DAY_MS);
  await debit.bill(month(startMs, { billing_reason: 'subscription_cycle', status: 'open' }));
  expect(await ada.billingRows()).toMatchObject({
    account: [{ plan: 'pro', plan_until: startMs + 12 * DAY_MS }],
    subscriptions: [{ status: 'past_due' }],
  });
  vi.setSystemTime(startMs + 20 * DAY_MS);
  await debit.end();
  expect((await ada.billingRows()).subscriptions).toMatchObject([{ status: 'ended' }]);
  expect(await billingOf(ada)).toMatchObject({ plan: 'free', subscription: null });
  expect((await ada.events()).map(({ event }) => event)).toEqual([
    'payment.failed',
    'subscription.cancelled',
  ]);
});

test('a first invoice that is paid after its subscription has ended begins no plan and is given back', async () => {
  const { ada, debit, first } = await withBouncedDebit('open');
  await debit.end();
  vi.setSystemTime(RENEWAL_MS + 5 * DAY_MS);
  const paid = await debit.settle({ ...first, status: 'paid' });
  for (let times = 0; times < 2; times++) expect((await notify('invoice.paid', paid)).status).toBe(200);
  expect(await ada.billingRows()).toMatchObject({
    account: [{ plan: 'free' }],
    subscriptions: [{ status: 'ended' }],
    payments: [{ status: 'refunded', amount: 2_900 }],
  });
  expect(await eventsOf(ada)).toEqual([['payment.refunded', 2_900]]);
});

/** A plan that the second invoice has begun. The first one, whose debit had bounced, is paid a few days later. */
const withLateFirst = async () => {
  const { ada, debit, first } = await withBouncedDebit('paid');
  vi.setSystemTime(RENEWAL_MS + 5 * DAY_MS);
  const paid = await debit.settle({ ...first, status: 'paid' });
  return { ada, debit, first, tell: () => notify('invoice.paid', paid) };
};

const bothPaid = (first: string) => ({
  account: [{ plan: 'pro', plan_until: null }],
  subscriptions: [{ status: 'active', period_start: RENEWAL_MS }],
  payments: [
    { status: 'paid', amount: 1_900 },
    { status: first, amount: 2_900 },
  ],
});

test('a first invoice that is paid after a later one has begun the plan is a payment of its own', async () => {
  const { ada, tell } = await withLateFirst();
  for (let times = 0; times < 2; times++) expect((await tell()).status).toBe(200);
  expect(await ada.billingRows()).toMatchObject(bothPaid('paid'));
  expect(await eventsOf(ada)).toEqual([
    ['payment.success', 1_900],
    ['payment.success', 2_900],
  ]);
});

test.for(['told', 'lost'])(
  'refunding a first invoice leaves the plan that a later one pays, if its payment was %s',
  async (notification) => {
    const { ada, debit, first, tell } = await withLateFirst();
    if (notification === 'told') await tell();
    await changeCharge(first.id, 2_900);
    expect(await ada.billingRows()).toMatchObject(bothPaid('refunded'));
    expect((await debit.put())['status']).toBe('active');
    expect((await eventsOf(ada)).at(-1)).toEqual(['payment.refunded', 2_900]);
  },
);

test('disputing a first invoice leaves the plan that a later one pays', async () => {
  const { ada, first } = await withLateFirst();
  for (const status of ['needs_response', 'lost']) await changeDispute(first.id, status);
  expect(await ada.billingRows()).toMatchObject(bothPaid('disputed'));
});

test('a first invoice that is paid and refunded without a word is found when the period is over', async () => {
  const { ada, debit, first } = await withLateFirst();
  await putCharge(first.id, 2_900);
  vi.setSystemTime(addMonths(RENEWAL_MS, 1) + 2 * HOUR_MS);
  await runHourly(stripeEnv());
  expect(await ada.billingRows()).toMatchObject(bothPaid('refunded'));
  expect((await debit.put())['status']).toBe('active');
});

test('the first invoice of a plan that an earlier release began is no second payment', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const { latest_invoice: first } = await atStripe.put();
  // That release kept the id of the checkout.
  await accountsD1
    .prepare("UPDATE payments SET checkout_ref = 'cs_old' WHERE id = ?")
    .bind(atStripe.paymentId)
    .run();
  vi.setSystemTime(RENEWAL_MS);
  await atStripe.bill(month(RENEWAL_MS, { billing_reason: 'subscription_cycle' }));
  await notify('invoice.paid', first as StripeObject);
  await changeCharge((first as StripeObject)['id'] as string, 2_900);
  expect(await ada.billingRows()).toMatchObject({
    account: [{ plan: 'pro' }],
    payments: [{ status: 'refunded' }, { status: 'paid' }],
  });
});
