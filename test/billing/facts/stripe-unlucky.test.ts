import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS, HOUR_MS, isoTime } from '../../../src/shared/rules/dates.ts';
import { ORIGIN } from '../../support/client.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { runHourly } from '../../support/hourly.ts';
import { invoice, items, type StripeObject } from '../../support/stripe-objects.ts';
import {
  callIn,
  changeDispute,
  month,
  notify,
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
  await runHourly(stripeEnv());
  expect(await billingOf(ada)).toMatchObject({ plan: 'free', payments: [{ status: 'refunded' }] });
  expect((await stripeRequests(atStripe.id)).some(({ method }) => method === 'DELETE')).toBe(true);
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
