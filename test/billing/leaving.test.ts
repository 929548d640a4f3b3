import { beforeEach, expect, test, vi } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import { endCharges } from '../../src/erasure/account.ts';
import { SYSTEM } from '../../src/shared/rules/audit.ts';
import { addMonths, DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { accountsD1 } from '../support/databases.ts';
import { finishErasure, runErasureAlarm } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { invoice, items } from '../support/stripe-objects.ts';
import {
  ageKey,
  changeDispute,
  changeSession,
  month,
  newStripeCustomer,
  notify,
  paidAtStripe,
  refuseRefunds,
  signUpWithStripe,
  stripeEnv,
  type StripePayer,
  stripeRequests,
} from '../support/stripe.ts';

// Whoever deletes an account is charged nothing from then on, and gets back what still arrives.

const START_MS = Date.UTC(2027, 0, 10, 12);
const DOWN = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });

beforeEach(() => {
  useFakeClock(START_MS);
});

const sessionOf = async (paymentId: string) => {
  const read = accountsD1.prepare('SELECT checkout_ref FROM payments WHERE id = ?').bind(paymentId);
  return (await read.first<string>('checkout_ref')) ?? '';
};

/** A seller who has completed a checkout, of which nobody has told yet. The money of a bank debit has not arrived. */
const withCompleteCheckout = async (status: 'paid' | 'open') => {
  const ada = await signUpWithStripe();
  const paymentId = await ada.begin('pro');
  const first = month(START_MS, { status });
  const atStripe = await paidAtStripe(paymentId, await newStripeCustomer(), first);
  await changeSession(await sessionOf(paymentId), { status: 'complete', subscription: atStripe.id });
  const pay = async () => {
    const paid = invoice({ ...first, status: 'paid' }, atStripe.id);
    await atStripe.put({ latest_invoice: paid });
    return paid;
  };
  const arrive = async () => notify('invoice.paid', await pay());
  return { ada, atStripe, first, pay, arrive };
};

const deleteAccount = async (ada: StripePayer, environment = stripeEnv()) => {
  const proof = { current_password: ada.password, confirm: ada.email };
  expect((await ada.callApi('DELETE', '/api/account', proof, environment)).status).toBe(202);
};

const comeBack = async (ada: StripePayer) => {
  const { status } = await ada.callApi('POST', '/api/login', { email: ada.email, password: ada.password });
  expect(status).toBe(200);
};

const ctxOf = ({ accountId }: StripePayer) => {
  const env = stripeEnv();
  return { env, db: databaseOf(env, accountId), accountId, key: null, actor: SYSTEM, ip: null };
};

const refundsOf = async (invoiceId: string) => (await refuseRefunds(invoiceId, false))['refunds_made'];
const isLeft = async ({ accountId }: StripePayer) =>
  (await accountsD1.prepare('SELECT id FROM accounts WHERE id = ?').bind(accountId).first()) !== null;

test('deleting an account cancels a bank debit that is under way', async () => {
  const { ada, atStripe } = await withCompleteCheckout('open');
  await deleteAccount(ada);
  expect(await atStripe.put()).toMatchObject({ status: 'canceled', latest_invoice: { status: 'void' } });
  await finishErasure(ada.accountId);
  expect(await isLeft(ada)).toBe(false);
});

test('deleting an account gives back a payment of which nobody has told yet, also if it comes in twice', async () => {
  const { ada, atStripe, first, arrive } = await withCompleteCheckout('paid');
  await deleteAccount(ada);
  expect((await atStripe.put())['status']).toBe('canceled');
  expect(await refundsOf(first.id)).toBe(1);
  await arrive();
  expect(await refundsOf(first.id)).toBe(1);
  expect((await ada.billingRows()).payments).toMatchObject([{ status: 'refunded' }]);
});

test('an account’s rows stay until its checkouts are ended, although Stripe was down when it was deleted', async () => {
  const { ada, atStripe } = await withCompleteCheckout('open');
  await deleteAccount(ada, DOWN);
  expect((await atStripe.put())['status']).toBe('active');
  vi.setSystemTime(START_MS + 8 * DAY_MS);
  // The gates of the tests know no Stripe.
  for (let alarms = 0; alarms < 3; alarms++) await runErasureAlarm(ada.accountId);
  expect(await isLeft(ada)).toBe(true);
  expect(await endCharges(ctxOf(ada))).toBeNull();
  expect(await atStripe.put()).toMatchObject({ status: 'canceled', latest_invoice: { status: 'void' } });
  await finishErasure(ada.accountId);
  expect(await isLeft(ada)).toBe(false);
});

test('money that arrives while an account waits for its end is given back, and begins no plan', async () => {
  const { ada, atStripe, first, arrive } = await withCompleteCheckout('open');
  await deleteAccount(ada, DOWN);
  vi.setSystemTime(START_MS + 3 * DAY_MS);
  expect((await arrive()).status).toBe(200);
  expect(await ada.billingRows()).toMatchObject({
    account: [{ plan: 'free' }],
    subscriptions: [{ status: 'ended' }],
    payments: [{ status: 'refunded' }],
  });
  expect((await atStripe.put())['status']).toBe('canceled');
  expect(await refundsOf(first.id)).toBe(1);
});

test('a renewal that is paid while an account waits for its end is given back', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  const renewalMs = addMonths(START_MS, 1);
  vi.setSystemTime(renewalMs - DAY_MS);
  await deleteAccount(ada);
  vi.setSystemTime(renewalMs);
  const next = month(renewalMs, { billing_reason: 'subscription_cycle' });
  const paid = invoice(next, atStripe.id);
  // Stripe's support has let the subscription go on.
  await atStripe.put({ status: 'active', items: items(next), latest_invoice: paid });
  expect((await notify('invoice.paid', paid)).status).toBe(200);
  expect((await ada.billingRows()).payments).toMatchObject([{ status: 'paid' }, { status: 'refunded' }]);
  expect(await refundsOf(next.id)).toBe(1);
  expect((await atStripe.put())['status']).toBe('canceled');
});

test('an account that is ended without a request can be paid for no longer', async () => {
  const ada = await signUpWithStripe();
  const session = await sessionOf(await ada.begin('pro'));
  await accountsD1
    .prepare('UPDATE accounts SET erase_at = ? WHERE id = ?')
    .bind(START_MS, ada.accountId)
    .run();
  expect(await endCharges(ctxOf(ada))).toBeNull();
  expect((await stripeRequests(`${session}/expire`)).map(({ answered }) => answered)).toEqual([200]);
});

test('an account’s rows stay until Stripe has given back the money that arrived while it waited for its end', async () => {
  const { ada, first, pay, arrive } = await withCompleteCheckout('open');
  await deleteAccount(ada, DOWN);
  vi.setSystemTime(START_MS + 6 * DAY_MS);
  await pay();
  await refuseRefunds(first.id, true);
  expect((await arrive()).status).toBe(200);
  vi.setSystemTime(START_MS + 8 * DAY_MS);
  expect(await endCharges(ctxOf(ada))).toBe(START_MS + 8 * DAY_MS + HOUR_MS);
  for (let alarms = 0; alarms < 3; alarms++) await runErasureAlarm(ada.accountId);
  expect(await isLeft(ada)).toBe(true);
  await refuseRefunds(first.id, false);
  await ageKey(`refund-inpay_${first.id}`);
  expect(await endCharges(ctxOf(ada))).toBeNull();
  expect(await refundsOf(first.id)).toBe(1);
  await finishErasure(ada.accountId);
  expect(await isLeft(ada)).toBe(false);
});

test('an erasure waits 30 days for a refund that Stripe refuses, and then leaves it to the operator', async () => {
  const { ada, first, arrive } = await withCompleteCheckout('paid');
  await refuseRefunds(first.id, true);
  await deleteAccount(ada);
  expect((await arrive()).status).toBe(200);
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const events = () =>
    logged.mock.calls.map(([line]) => (JSON.parse(String(line)) as { event: string }).event);

  vi.setSystemTime(START_MS + 29 * DAY_MS);
  expect(await endCharges(ctxOf(ada))).toBe(START_MS + 29 * DAY_MS + HOUR_MS);
  expect(events()).toEqual(['payment_not_refunded']);
  vi.setSystemTime(START_MS + 30 * DAY_MS);
  expect(await endCharges(ctxOf(ada))).toBeNull();
  expect(events()).toEqual(['payment_not_refunded', 'payment_kept']);
  expect(String(logged.mock.lastCall?.[0])).toContain(first.id);
  expect((await ada.billingRows()).payments).toEqual([]);
});

test('money that a lost dispute has given back holds up no erasure', async () => {
  const { ada, first, pay, arrive } = await withCompleteCheckout('open');
  await deleteAccount(ada, DOWN);
  await pay();
  await refuseRefunds(first.id, true);
  await arrive();
  for (const status of ['needs_response', 'lost']) await changeDispute(first.id, status);
  expect(await endCharges(ctxOf(ada))).toBeNull();
  expect((await ada.billingRows()).payments).toMatchObject([{ status: 'disputed' }]);
  expect(await refundsOf(first.id)).toBeUndefined();
});

const GIVEN_BACK = {
  account: [{ plan: 'free' }],
  subscriptions: [{ status: 'ended' }],
  payments: [{ status: 'refunded' }],
};

test('whoever deletes the account and comes back gets back a bank debit that still arrives', async () => {
  const { ada, first, arrive } = await withCompleteCheckout('open');
  await deleteAccount(ada);
  vi.setSystemTime(START_MS + DAY_MS);
  await comeBack(ada);
  vi.setSystemTime(START_MS + 4 * DAY_MS);
  expect((await arrive()).status).toBe(200);
  expect(await ada.billingRows()).toMatchObject(GIVEN_BACK);
  expect(await refundsOf(first.id)).toBe(1);
  expect((await ada.events()).map(({ event }) => event)).toEqual(['payment.refunded']);
});

test('whoever comes back gets back what Stripe refused to give back when the account was deleted', async () => {
  const { ada, first, arrive } = await withCompleteCheckout('paid');
  await refuseRefunds(first.id, true);
  await deleteAccount(ada);
  await comeBack(ada);
  await refuseRefunds(first.id, false);
  await ageKey(`refund-inpay_${first.id}`);
  vi.setSystemTime(START_MS + HOUR_MS);
  await runHourly(stripeEnv());
  expect(await refundsOf(first.id)).toBe(1);
  expect((await arrive()).status).toBe(200);
  expect(await ada.billingRows()).toMatchObject(GIVEN_BACK);
  expect(await refundsOf(first.id)).toBe(1);
});

test('a checkout that couldn’t be ended at Stripe begins no plan for whoever comes back, and the next one does', async () => {
  const { ada, atStripe, first, arrive } = await withCompleteCheckout('open');
  await deleteAccount(ada, DOWN);
  await comeBack(ada);
  vi.setSystemTime(START_MS + DAY_MS);
  expect((await arrive()).status).toBe(200);
  expect(await ada.billingRows()).toMatchObject(GIVEN_BACK);
  expect((await atStripe.put())['status']).toBe('canceled');
  expect(await refundsOf(first.id)).toBe(1);
  await ada.subscribe();
  await runHourly(stripeEnv());
  expect(await ada.billingRows(START_MS + DAY_MS)).toMatchObject({
    account: [{ plan: 'pro' }],
    payments: [{ status: 'paid' }],
  });
});
