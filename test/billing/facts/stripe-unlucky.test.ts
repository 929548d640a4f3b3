import { createScheduledController } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import worker from '../../../src/index.ts';
import { addMonths, DAY_MS, HOUR_MS, isoTime } from '../../../src/shared/rules/dates.ts';
import { ORIGIN } from '../../support/client.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { type Invoice, invoice, items, type StripeObject } from '../../support/stripe-objects.ts';
import {
  callIn,
  changeDispute,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  putCharge,
  signUpWithStripe,
  stripeEnv,
  type StripePayer,
  stripeRequests,
} from '../../support/stripe.ts';

// What happens to customers whose notifications are lost, come in the wrong order, or come while they click.

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const runScheduled = () => worker.scheduled(createScheduledController(), stripeEnv());
const billingOf = async (ada: StripePayer) => (await ada.callApi('GET', '/api/billing')).body;

test('a subscription that has ended at Stripe can’t be resumed, also if nobody has told so', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  await ada.callApi('POST', '/api/cancel-subscription');
  await atStripe.put({ status: 'canceled', cancel_at_period_end: false, ended_at: START_MS / 1_000 });
  const { status, body } = await ada.callApi('POST', '/api/resume-subscription');
  expect([status, body.error.code]).toEqual([409, 'no_active_subscription']);
  expect(await billingOf(ada)).toMatchObject({ plan: 'free', subscription: null });
});

test('a cancellation is answered alike with one Idempotency-Key, also after the subscription has ended', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const cancel = () =>
    callIn(
      stripeEnv(),
      new Request(`${ORIGIN}/api/cancel-subscription`, {
        method: 'POST',
        body: '{"at":"now"}',
        headers: {
          'x-api-key': ada.apiKey,
          'content-type': 'application/json',
          'idempotency-key': 'goodbye',
        },
      }),
    );
  const first = await cancel();
  expect(first.status).toBe(200);
  await atStripe.end();
  expect((await cancel()).body).toEqual(first.body);
});

test('whoever cancels after a renewal that nobody has told of keeps what is paid for', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + HOUR_MS);
  const next = month(RENEWAL_MS, { billing_reason: 'subscription_cycle' });
  await atStripe.put({ items: items(next), latest_invoice: invoice(next, atStripe.id) });
  const { body } = await ada.callApi('POST', '/api/cancel-subscription');
  expect(body.subscription.ends_at).toBe(isoTime(next.periodEndMs));
  expect(await ada.apiLimit()).toBe(100_000);
});

test('paying the older of two overdue invoices leaves the newer one overdue', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS);
  const older = month(RENEWAL_MS, { billing_reason: 'subscription_cycle', status: 'open' });
  await atStripe.bill(older);
  const secondMs = addMonths(RENEWAL_MS, 1);
  vi.setSystemTime(secondMs);
  await atStripe.bill(month(secondMs, { billing_reason: 'subscription_cycle', status: 'open' }));

  vi.setSystemTime(secondMs + DAY_MS);
  const paid = await atStripe.settle({ ...older, status: 'paid' });
  await notify('invoice.paid', paid);
  expect(await billingOf(ada)).toMatchObject({
    plan: 'pro',
    subscription: { status: 'past_due', ends_at: isoTime(secondMs + 8 * DAY_MS) },
  });
  expect((await ada.events()).map(({ event }) => event)).toEqual([
    'payment.success',
    'payment.failed',
    'payment.success',
    'payment.failed',
  ]);
});

test('a refund that nobody has told of is found when the period is over', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const { latest_invoice: first } = await atStripe.put();
  await putCharge((first as StripeObject)['id'] as string, 2_900);
  vi.setSystemTime(RENEWAL_MS);
  // Stripe makes the next invoice, and charges it an hour later.
  const next = month(RENEWAL_MS, { billing_reason: 'subscription_cycle', status: 'draft' });
  await atStripe.put({ items: items(next), latest_invoice: invoice(next, atStripe.id) });
  await runScheduled();
  expect(await billingOf(ada)).toMatchObject({ plan: 'free', payments: [{ status: 'refunded' }] });
  expect((await stripeRequests(atStripe.id)).some(({ method }) => method === 'DELETE')).toBe(true);
});

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
  return { ada, debit };
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
  expect((await ada.events()).map(({ event, amount }) => [event, amount])).toEqual([
    ['payment.success', 1_900],
  ]);
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

test('an account makes at most 30 calls an hour that Stripe has to answer', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  const open = () => ada.callApi('POST', '/api/billing-portal');
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await open()).status));
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(30);
  expect(statuses).toContain(429);
  const refused = await ada.callApi('POST', '/api/cancel-subscription');
  expect([refused.status, Number(refused.headers.get('retry-after')) > 3_000]).toEqual([429, true]);
  vi.setSystemTime(START_MS + HOUR_MS + 1_000);
  expect((await ada.callApi('POST', '/api/cancel-subscription')).status).toBe(200);
});

test('the longer a payment is pending, the less often Stripe is asked about it', async () => {
  const ada = await signUpWithStripe();
  const id = await ada.begin('pro');
  const read = accountsD1.prepare('SELECT checkout_ref FROM payments WHERE id = ?').bind(id);
  const { checkout_ref: ref } = (await read.first<{ checkout_ref: string }>())!;
  const asked = async () =>
    (await stripeRequests(`/v1/checkout/sessions/${ref}`)).filter(({ method }) => method === 'GET').length;
  const before = await asked();
  for (let minute = 0; minute < 40; minute += 10) {
    vi.setSystemTime(START_MS + 20 * HOUR_MS + minute * 60_000);
    await callIn(stripeEnv(), new Request(`${ORIGIN}/checkout/${id}`));
  }
  expect((await asked()) - before).toBe(1);
});

test('a dispute of the last period is over once the next one is paid, also if its invoice failed first', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const { latest_invoice: first } = await atStripe.put();
  await changeDispute((first as StripeObject)['id'] as string, 'needs_response');
  expect((await billingOf(ada)).plan).toBe('free');
  vi.setSystemTime(RENEWAL_MS);
  const next = month(RENEWAL_MS, { billing_reason: 'subscription_cycle', status: 'open' });
  await atStripe.bill(next);
  expect((await billingOf(ada)).plan).toBe('free');
  await atStripe.bill({ ...next, status: 'paid' });
  expect(await billingOf(ada)).toMatchObject({ plan: 'pro', subscription: { status: 'active' } });
});
