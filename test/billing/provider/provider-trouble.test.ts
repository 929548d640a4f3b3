import { beforeEach, expect, test, vi } from 'vitest';
import { refundPayments } from '../../../src/billing/scheduled/check.ts';
import { addMonths, HOUR_MS, isoTime } from '../../../src/shared/rules/dates.ts';
import { accountsD1, ctxOf } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { runHourly } from '../../support/hourly.ts';
import { checkoutSession, invoice } from '../../support/stripe-objects.ts';
import {
  ageKey,
  callIn,
  changeSession,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  putCharge,
  refuseRefunds,
  signUpWithStripe,
  stripeEnv,
  type StripePayer,
} from '../../support/stripe.ts';

// What the provider refuses, answers late, or says in an older form.

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);
const DOWN = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });

beforeEach(() => {
  useFakeClock(START_MS);
});

const billingOf = async (ada: StripePayer) => (await ada.callApi('GET', '/api/billing')).body;
const refundsTold = async (ada: StripePayer) =>
  (await ada.events()).filter(({ event }) => event === 'payment.refunded').map(({ amount }) => amount);

test('a refund that Stripe refuses holds up no plan, and is made later', async () => {
  const ada = await signUpWithStripe();
  const customer = await newStripeCustomer();
  const first = month(START_MS);
  const older = await paidAtStripe(await ada.begin('pro'), customer, first);
  vi.setSystemTime(START_MS + 1_000);
  const newer = await paidAtStripe(await ada.begin('scale'), customer, month(Date.now(), { amount: 19_900 }));
  await notify('checkout.session.completed', checkoutSession(older));
  await refuseRefunds(first.id, true);
  expect((await notify('checkout.session.completed', checkoutSession(newer))).status).toBe(200);
  expect(await ada.apiLimit()).toBe(5_000_000);
  expect(await refundsTold(ada)).toEqual([]);

  // Stripe repeats its refusal for a day.
  await refuseRefunds(first.id, false);
  await ageKey(`refund-inpay_${first.id}`);
  vi.setSystemTime(START_MS + HOUR_MS);
  const refund = () => refundPayments({ env: stripeEnv(), db: ctxOf(ada.accountId).db });
  await Promise.all([refund(), refund()]);
  expect(await refundsTold(ada)).toEqual([2_900]);
  expect((await billingOf(ada)).payments).toMatchObject([{ status: 'paid' }, { status: 'refunded' }]);
  vi.setSystemTime(START_MS + 2 * HOUR_MS);
  await runHourly(stripeEnv());
  expect((await refuseRefunds(first.id, false))['refunds_made']).toBe(1);
});

test('a refund whose answer was lost is told once it is known, and not made again', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS);
  const late = month(RENEWAL_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  await atStripe.bill(late);
  await atStripe.end();
  vi.setSystemTime(RENEWAL_MS + HOUR_MS);
  const paid = invoice({ ...late, status: 'paid' }, atStripe.id);
  await atStripe.put({ latest_invoice: paid });
  await refuseRefunds(late.id, true);
  await notify('invoice.paid', paid);
  // It was made after all.
  await putCharge(late.id, 2_900);
  await refuseRefunds(late.id, false);
  await ageKey(`refund-inpay_${late.id}`);
  vi.setSystemTime(RENEWAL_MS + 2 * HOUR_MS);
  await runHourly(stripeEnv());
  expect(await refundsTold(ada)).toEqual([2_900]);
  expect((await billingOf(ada)).payments).toMatchObject([{ status: 'refunded' }, { status: 'paid' }]);
  expect((await refuseRefunds(late.id, false))['refunds_made']).toBeUndefined();
});

test('what was read at Stripe earlier changes nothing after what was read later, also if that changed nothing', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(START_MS + 10_000);
  await notify('customer.subscription.updated', await atStripe.put({ cancel_at_period_end: false }));
  // The clock of this request is earlier, as if it had waited for its turn.
  vi.setSystemTime(START_MS + 5_000);
  await notify('customer.subscription.updated', await atStripe.put({ cancel_at_period_end: true }));
  expect((await billingOf(ada)).subscription).toMatchObject({ status: 'active', ends_at: null });
});

test('a notification that Stripe can’t be asked about answers 503, so that Stripe sends it again', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await paidAtStripe(await ada.begin('pro'), await newStripeCustomer(), month(START_MS));
  const { status, body } = await notify('checkout.session.completed', checkoutSession(atStripe), {
    environment: DOWN,
  });
  expect([status, body.error.code]).toEqual([503, 'unavailable']);
});

test.for([
  ['init-payment', { plan: 'scale' }],
  ['billing-portal', undefined],
  ['resume-subscription', undefined],
  ['cancel-subscription', { at: 'now' }],
] as const)('POST /api/%s answers 503 while Stripe is down, and works afterwards', async ([path, body]) => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  if (path === 'init-payment') await atStripe.end();
  if (path === 'resume-subscription') await ada.callApi('POST', '/api/cancel-subscription');
  const { status, body: failed } = await ada.callApi('POST', `/api/${path}`, body, DOWN);
  expect([status, failed.error.code]).toEqual([503, 'unavailable']);
  expect((await ada.callApi('POST', `/api/${path}`, body)).status).toBe(path === 'init-payment' ? 201 : 200);
});

test('each call to Stripe is given up after ten seconds', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  await ada.callApi('POST', '/api/cancel-subscription');
  await notify('customer.subscription.updated', await atStripe.put());
  const waits = timers.mock.calls.map(([, ms]) => ms);
  timers.mockRestore();
  expect(waits).toContain(10_000);
  // The limit of Stripe's own package.
  expect(waits).not.toContain(80_000);
});

test('a replaced checkout whose bank debit is on its way needs no expiry, and is given back when it arrives', async () => {
  const ada = await signUpWithStripe();
  const paymentId = await ada.begin('pro');
  const read = accountsD1
    .prepare('SELECT checkout_ref, expire_due_at FROM payments WHERE id = ?')
    .bind(paymentId);
  const row = async () => (await read.first<{ checkout_ref: string; expire_due_at: number | null }>())!;
  const first = month(START_MS, { status: 'open' });
  const debit = await paidAtStripe(paymentId, await newStripeCustomer(), first);
  await changeSession((await row()).checkout_ref, { status: 'complete', subscription: debit.id });
  vi.setSystemTime(START_MS + 1_000);
  const anew = await paidAtStripe(
    await ada.begin('scale'),
    debit.customer,
    month(START_MS, { amount: 19_900 }),
  );
  await notify('checkout.session.completed', checkoutSession(anew));
  vi.setSystemTime(START_MS + HOUR_MS);
  await runHourly(stripeEnv());
  expect((await row()).expire_due_at).toBeNull();

  const paid = invoice({ ...first, status: 'paid' }, debit.id);
  await debit.put({ latest_invoice: paid });
  await notify('invoice.paid', paid);
  expect(await ada.apiLimit()).toBe(5_000_000);
  expect(await refundsTold(ada)).toEqual([2_900]);
});

test('a notification in the form of an older API version is read, too', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const next = month(RENEWAL_MS, { billing_reason: 'subscription_cycle' });
  await atStripe.bill({ ...next, status: 'open' });
  const paid = invoice(next, atStripe.id);
  await atStripe.put({ status: 'active', latest_invoice: paid });
  await notify('invoice.paid', { ...paid, parent: undefined, subscription: atStripe.id });
  expect(await billingOf(ada)).toMatchObject({
    subscription: { status: 'active', period_end: isoTime(next.periodEndMs) },
  });
});

test('a change that was planned on Stripe’s own page gives way to a cancellation, its end, and another change', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('scale');
  const plan = () => atStripe.put({ schedule: `sub_sched_${atStripe.id.replace('sub_', '')}` });
  await plan();
  expect((await ada.callApi('POST', '/api/cancel-subscription')).status).toBe(200);
  await plan();
  expect((await ada.callApi('POST', '/api/resume-subscription')).status).toBe(200);
  await plan();
  const { body } = await ada.callApi('POST', '/api/init-payment', { plan: 'pro' });
  const sent = { method: 'POST', body: new URLSearchParams({ outcome: 'paid' }) };
  expect((await callIn(stripeEnv(), new Request(body.checkout_url as string, sent))).status).toBe(303);
  expect(await ada.apiLimit()).toBe(100_000);
});
