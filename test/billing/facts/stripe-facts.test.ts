import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import { addMonths, DAY_MS, HOUR_MS, isoTime } from '../../../src/shared/rules/dates.ts';
import { ORIGIN, signUp } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { runHourly } from '../../support/hourly.ts';
import { mailsTo } from '../../support/mails.ts';
import { checkoutSession, invoice } from '../../support/stripe-objects.ts';
import {
  callIn,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  signUpWithStripe,
  stripeEnv,
  stripeRequests,
} from '../../support/stripe.ts';

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);

beforeEach(() => {
  useFakeClock(START_MS);
});

const billingOf = async (ada: Awaited<ReturnType<typeof signUpWithStripe>>) =>
  (await ada.callApi('GET', '/api/billing')).body;

test('an invoice for a change of price that fails and is then paid ends past due', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('scale');
  vi.setSystemTime(START_MS + 10 * DAY_MS);
  const changed = month(Date.now(), { status: 'open', billing_reason: 'subscription_update' });
  await atStripe.bill(changed);
  expect((await billingOf(ada)).subscription.status).toBe('past_due');
  vi.setSystemTime(Date.now() + HOUR_MS);
  await atStripe.bill({ ...changed, status: 'paid' });
  vi.setSystemTime(START_MS + 18 * DAY_MS);
  await runHourly(stripeEnv());
  expect(await billingOf(ada)).toMatchObject({ plan: 'scale', subscription: { status: 'active' } });
  expect(await ada.apiLimit()).toBe(5_000_000);
});

test('a bank debit buys the plan when its money has arrived, also if it bounced first', async () => {
  const ada = await signUpWithStripe();
  const first = month(START_MS, { status: 'open' });
  const atStripe = await paidAtStripe(await ada.begin('pro'), await newStripeCustomer(), first);
  await notify('checkout.session.completed', { ...checkoutSession(atStripe), payment_status: 'unpaid' });
  expect(await billingOf(ada)).toMatchObject({ plan: 'free', payments: [{ status: 'pending' }] });
  expect(await ada.events()).toEqual([]);

  vi.setSystemTime(START_MS + 9 * DAY_MS);
  await atStripe.put({ status: 'past_due' });
  await notify('invoice.payment_failed', invoice(first, atStripe.id));
  expect((await billingOf(ada)).plan).toBe('free');

  const paid = invoice({ ...first, status: 'paid' }, atStripe.id);
  await atStripe.put({ status: 'active', latest_invoice: paid });
  await notify('invoice.paid', paid);
  expect(await billingOf(ada)).toMatchObject({
    plan: 'pro',
    subscription: { status: 'active' },
    payments: [{ status: 'paid' }],
  });
  expect((await ada.events()).map(({ event }) => event)).toEqual(['payment.success']);
});

test('a checkout whose bank debit never arrives expires when Stripe ends its subscription', async () => {
  const ada = await signUpWithStripe();
  const paymentId = await ada.begin('pro');
  const first = month(START_MS, { status: 'open' });
  const atStripe = await paidAtStripe(paymentId, await newStripeCustomer(), first);
  expect((await atStripe.end()).status).toBe(200);
  expect(await billingOf(ada)).toMatchObject({ plan: 'free', subscription: null });
  expect(await ada.events()).toEqual([]);
});

test('the seven days of grace run from the failure and not from the invoice', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 9 * DAY_MS);
  await atStripe.bill(month(RENEWAL_MS, { status: 'open', billing_reason: 'subscription_cycle' }));
  vi.setSystemTime(RENEWAL_MS + 16 * DAY_MS - 1);
  expect(await ada.apiLimit()).toBe(100_000);
  vi.setSystemTime(RENEWAL_MS + 16 * DAY_MS);
  expect(await ada.apiLimit()).toBe(1_000);
});

test('a failed payment is told to the owner by mail and event, once for an invoice', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const open = month(RENEWAL_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  const failures = [1, 2, 3].map(() => atStripe.bill(open));
  expect((await Promise.all(failures)).map(({ status }) => status)).toEqual([200, 200, 200]);
  const endsAt = isoTime(RENEWAL_MS + 5_000 + 7 * DAY_MS);
  expect((await ada.events()).slice(1)).toMatchObject([
    { event: 'payment.failed', plan: 'pro', ends_at: endsAt, customer_email: ada.email },
  ]);
  const isFailure = ({ subject }: { subject: string }) => subject.includes('payment');
  await expect.poll(() => mailsTo(ada.email).filter(isFailure).length).toBe(1);
  expect(mailsTo(ada.email).find(isFailure)?.text).toContain('2027-02-17 12:00 UTC');
});

test('a new purchase voids the open invoice of the subscription that it replaces', async () => {
  const ada = await signUpWithStripe();
  const old = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const open = month(RENEWAL_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  await old.bill(open);
  await ada.subscribe();
  expect((await stripeRequests(open.id)).map(({ path, answered }) => [path, answered])).toContainEqual([
    `/v1/invoices/${open.id}/void`,
    200,
  ]);
});

test('canceling answers 503 and changes nothing while Stripe is down', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe();
  const down = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });
  const { status, body } = await ada.callApi('POST', '/api/cancel-subscription', {}, down);
  expect([status, body.error.code]).toEqual([503, 'unavailable']);
  expect((await billingOf(ada)).subscription.status).toBe('active');
});

test('a subscription that has ended at Stripe can be canceled here before its notification arrives', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  await atStripe.put({ status: 'canceled', ended_at: START_MS / 1_000 });
  expect((await ada.callApi('POST', '/api/cancel-subscription')).status).toBe(200);
});

test('a cancellation at Stripe is shown and announced, and so is taking it back', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const told = async (changes: Record<string, unknown>) => {
    const changed = await atStripe.put(changes);
    const answers = await Promise.all([1, 2, 3].map(() => notify('customer.subscription.updated', changed)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    return (await billingOf(ada)).subscription;
  };
  const endsAt = isoTime(RENEWAL_MS);
  for (let times = 0; times < 2; times++) {
    expect(await told({ cancel_at_period_end: true })).toMatchObject({
      status: 'cancelled',
      ends_at: endsAt,
    });
    expect(await told({ cancel_at_period_end: false })).toMatchObject({ status: 'active', ends_at: null });
  }
  expect((await ada.events()).map(({ event }) => event)).toEqual([
    'payment.success',
    'subscription.cancelled',
    'subscription.cancelled',
  ]);
});

test('a subscription canceled here and resumed at Stripe renews and can be canceled again', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  expect((await ada.callApi('POST', '/api/cancel-subscription')).status).toBe(200);
  await notify('customer.subscription.updated', await atStripe.put({ cancel_at_period_end: false }));
  vi.setSystemTime(RENEWAL_MS + 5_000);
  await atStripe.bill(month(RENEWAL_MS, { billing_reason: 'subscription_cycle' }));
  expect(await billingOf(ada)).toMatchObject({ plan: 'pro', subscription: { status: 'active' } });
  expect(await ada.apiLimit()).toBe(100_000);
  expect((await ada.callApi('POST', '/api/cancel-subscription')).status).toBe(200);
});

test('a cancellation here stands against what was read at Stripe before it', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  expect((await ada.callApi('POST', '/api/cancel-subscription')).status).toBe(200);
  // The clock of this request is before the cancellation, as if Stripe had answered slowly.
  vi.setSystemTime(START_MS - 1_000);
  await notify('customer.subscription.updated', await atStripe.put({ cancel_at_period_end: false }));
  vi.setSystemTime(START_MS);
  expect((await billingOf(ada)).subscription.status).toBe('cancelled');
});

const buyInSandbox = async () => {
  const eve = await signUp();
  const { body } = await eve.asSession('POST', '/api/init-payment', { plan: 'scale' });
  const paid = await callIn(
    env,
    new Request(body.checkout_url, {
      method: 'POST',
      body: 'outcome=paid',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
  );
  expect(paid.status).toBe(303);
  const live = stripeEnv({ PAYMENTS_SANDBOX_ANYWHERE: 'false' });
  const call = (method: string, path: string, sent?: unknown) =>
    callIn(
      live,
      new Request(ORIGIN + path, {
        method,
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
        headers: { 'x-api-key': eve.apiKey, 'content-type': 'application/json' },
      }),
    );
  return { live, call };
};

test('a plan bought in the sandbox ends in the next scheduled run once the service takes real payments', async () => {
  const { live, call } = await buyInSandbox();
  expect((await call('GET', '/api/billing')).body.plan).toBe('scale');
  await runHourly(live);
  expect((await call('GET', '/api/billing')).body).toMatchObject({ plan: 'free', subscription: null });
});

test('a plan bought in the sandbox can be canceled once the service takes real payments', async () => {
  const { call } = await buyInSandbox();
  expect((await call('POST', '/api/cancel-subscription', { at: 'now' })).status).toBe(200);
  expect((await call('GET', '/api/billing')).body.plan).toBe('free');
});
