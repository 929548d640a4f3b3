import { beforeEach, expect, inject, test, vi } from 'vitest';
import { addMonths, DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { ORIGIN } from '../support/client.ts';
import { doBefore } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { checkoutSession, invoice, type StripeObject } from '../support/stripe-objects.ts';
import {
  ageKey,
  callIn,
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

// Nobody is charged twice, whatever is repeated, refused, or paid at the same time.

const START_MS = Date.UTC(2027, 0, 10, 12);
const RENEWAL_MS = addMonths(START_MS, 1);
const DOWN = stripeEnv({ STRIPE_API_BASE: 'http://127.0.0.1:9' });

beforeEach(() => {
  useFakeClock(START_MS);
});

const billingOf = async (ada: StripePayer) => (await ada.callApi('GET', '/api/billing')).body;
const statusesOf = async (ada: StripePayer): Promise<string[]> =>
  (await billingOf(ada)).payments.map(({ status }: StripeObject) => status);

const confirm = (url: string) =>
  callIn(stripeEnv(), new Request(url, { method: 'POST', body: new URLSearchParams({ outcome: 'paid' }) }));
const beginChange = async (ada: StripePayer, plan: string) => {
  const { body } = await ada.callApi('POST', '/api/init-payment', { plan });
  return { id: body.payment_id as string, url: body.checkout_url as string };
};
/** What changed the price of the subscription, without what Stripe answered from its keys. */
const changesAt = async (id: string) =>
  (await stripeRequests(id)).filter(
    ({ method, form, isRepeat }) => method === 'POST' && form['items[0][id]'] !== undefined && !isRepeat,
  );
const refundsOf = async (invoiceId: string) => (await refuseRefunds(invoiceId, false))['refunds_made'];

/** A customer whose renewal is not paid yet. */
const overdue = async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe();
  vi.setSystemTime(RENEWAL_MS + 5_000);
  const open = month(RENEWAL_MS, { status: 'open', billing_reason: 'subscription_cycle' });
  await atStripe.bill(open);
  return { ada, atStripe, open };
};

test('Stripe answers an Idempotency-Key alike for 24 hours, and refuses other parameters', async () => {
  const key = crypto.randomUUID();
  const send = async (name: string) => {
    const response = await fetch(`${inject('stripe')}/v1/products`, {
      method: 'POST',
      body: new URLSearchParams({ name }),
      headers: { 'idempotency-key': key },
    });
    return { status: response.status, body: await response.json<StripeObject>() };
  };
  const first = await send('one');
  expect(await send('one')).toEqual(first);
  expect(await send('other')).toMatchObject({ status: 400, body: { error: { type: 'idempotency_error' } } });
  await ageKey(key);
  expect((await send('other')).body['id']).not.toBe(first.body['id']);
});

test('a checkout that failed while Stripe was down starts with the same Idempotency-Key later', async () => {
  const ada = await signUpWithStripe();
  const init = (environment: Env) =>
    callIn(
      environment,
      new Request(`${ORIGIN}/api/init-payment`, {
        method: 'POST',
        body: '{"plan":"pro"}',
        headers: { 'x-api-key': ada.apiKey, 'content-type': 'application/json', 'idempotency-key': 'pay' },
      }),
    );
  expect((await init(DOWN)).body.error.code).toBe('unavailable');
  const later = await init(stripeEnv());
  expect(later.status).toBe(201);
  expect((await init(stripeEnv())).body).toEqual(later.body);
});

test('confirming a change several times, also at once, charges the difference once', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await atStripe.put({ difference: 16_450 });
  const { url } = await beginChange(ada, 'scale');
  await Promise.all([1, 2, 3].map(() => confirm(url)));
  await confirm(url);
  expect(await changesAt(atStripe.id)).toHaveLength(1);
  expect((await ada.events()).map(({ event }) => event)).toEqual(['payment.success', 'payment.success']);
  expect(await statusesOf(ada)).toEqual(['paid', 'paid']);
});

test('confirming a change again whose card was declined leads to the same invoice', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await atStripe.put({ difference: 16_450, declines: true });
  const { url } = await beginChange(ada, 'scale');
  const answers = [await confirm(url), await confirm(url)];
  expect(answers.map(({ headers }) => headers.get('location'))).toEqual([
    'https://invoice.example/pay',
    'https://invoice.example/pay',
  ]);
  expect(await changesAt(atStripe.id)).toHaveLength(1);
});

test('a change that Stripe refused is made once its reason is gone, although Stripe repeats an answer', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await atStripe.put({ refuses: true, difference: 16_450 });
  const refused = await beginChange(ada, 'scale');
  expect((await confirm(refused.url)).status).toBe(503);
  await atStripe.put({ refuses: false });
  const { id, url } = await beginChange(ada, 'scale');
  expect(id).not.toBe(refused.id);
  expect((await confirm(url)).status).toBe(303);
  expect(await ada.apiLimit()).toBe(5_000_000);
});

test('a change that Stripe can’t be asked about stays open', async () => {
  const ada = await signUpWithStripe();
  await ada.subscribe('pro');
  const { id, url } = await beginChange(ada, 'scale');
  const body = new URLSearchParams({ outcome: 'paid' });
  expect((await callIn(DOWN, new Request(url, { method: 'POST', body }))).status).toBe(503);
  expect((await beginChange(ada, 'scale')).id).toBe(id);
});

test('a plan that ended at Stripe while its owner lets it go on says so', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  await ada.callApi('POST', '/api/cancel-subscription');
  const { url } = await beginChange(ada, 'pro');
  await atStripe.put({ status: 'canceled', ended_at: START_MS / 1_000 });
  const { status, body } = await confirm(url);
  expect([status, body.error.code]).toEqual([409, 'invalid_transition']);
  expect(await billingOf(ada)).toMatchObject({ plan: 'free', payments: [{ status: 'expired' }, {}] });
});

test('an invoice that is paid after its subscription has ended is given back once', async () => {
  const { ada, atStripe, open: late } = await overdue();
  await atStripe.end();
  vi.setSystemTime(RENEWAL_MS + DAY_MS);
  const paid = invoice({ ...late, status: 'paid' }, atStripe.id);
  await atStripe.put({ latest_invoice: paid });
  await Promise.all([1, 2, 3].map(() => notify('invoice.paid', paid)));
  await ageKey(`refund-inpay_${late.id}`);
  await notify('invoice.paid', paid);
  expect(await refundsOf(late.id)).toBe(1);
  expect((await ada.events()).filter(({ event }) => event === 'payment.refunded')).toHaveLength(1);
});

test('an overdue and canceled plan whose invoice is paid while its owner buys anew is given back', async () => {
  const { ada, atStripe, open } = await overdue();
  await ada.callApi('POST', '/api/cancel-subscription');
  const paymentId = await ada.begin('pro');
  vi.setSystemTime(RENEWAL_MS + HOUR_MS);
  const paid = invoice({ ...open, status: 'paid' }, atStripe.id);
  await atStripe.put({ status: 'active', latest_invoice: paid });
  const anew = await paidAtStripe(paymentId, await newStripeCustomer(), month(Date.now()));
  await notify('checkout.session.completed', checkoutSession(anew));
  await notify('invoice.paid', paid);
  expect(await ada.apiLimit()).toBe(100_000);
  expect(await statusesOf(ada)).toEqual(['refunded', 'paid', 'paid']);
  expect(await refundsOf(open.id)).toBe(1);
});

test('who buys anew while the invoice of a change is overdue gets back what the rest of the period cost', async () => {
  const ada = await signUpWithStripe();
  const atStripe = await ada.subscribe('pro');
  const { latest_invoice: first } = await atStripe.put();
  vi.setSystemTime(START_MS + 10 * DAY_MS);
  const change = { ...month(START_MS, { status: 'open', billing_reason: 'subscription_update' }) };
  await atStripe.bill(change);
  await ada.subscribe('scale');
  expect(await ada.apiLimit()).toBe(5_000_000);
  expect(await statusesOf(ada)).toEqual(['paid', 'refunded']);
  expect(await refundsOf((first as StripeObject)['id'] as string)).toBe(1);
});

test('an overdue invoice that is paid after an end at Stripe is given back, also if that is read first', async () => {
  const { ada, atStripe, open } = await overdue();
  await atStripe.put({ status: 'canceled', ended_at: (RENEWAL_MS + 5_000) / 1_000 });
  vi.setSystemTime(RENEWAL_MS + DAY_MS);
  const paid = invoice({ ...open, status: 'paid' }, atStripe.id);
  await atStripe.put({ latest_invoice: paid });
  await notify('invoice.paid', paid);
  expect(await statusesOf(ada)).toEqual(['refunded', 'paid']);
  expect(await refundsOf(open.id)).toBe(1);
});

test.for([
  ['is overtaken by', false],
  ['fails after', true],
] as const)(
  'a purchase that %s the end of the subscription that it replaces gives back what was paid for that',
  async ([, isCutOff]) => {
    const ada = await signUpWithStripe();
    const customer = await newStripeCustomer();
    const first = month(START_MS);
    const old = await paidAtStripe(await ada.begin('pro'), customer, first);
    const anew = await paidAtStripe(await ada.begin('scale'), customer, month(START_MS));
    await notify('checkout.session.completed', checkoutSession(old));
    const hasHappened = doBefore(/insert into "applied_facts"/, async () => {
      await old.end();
      if (isCutOff) throw new Error('The Worker dies.');
    });
    await notify('checkout.session.completed', checkoutSession(anew));
    expect(hasHappened()).toBe(true);
    await notify('checkout.session.completed', checkoutSession(anew));
    await runHourly(stripeEnv());
    expect(await ada.apiLimit()).toBe(5_000_000);
    expect(await statusesOf(ada)).toEqual(['paid', 'refunded']);
    expect(await refundsOf(first.id)).toBe(1);
  },
);

test.for(['period_end', 'now'])(
  'a change and a cancellation (%s) at the same time end here as they ended at Stripe',
  async (at) => {
    const ada = await signUpWithStripe();
    const atStripe = await ada.subscribe('pro');
    await atStripe.put({ difference: 16_450 });
    const { url } = await beginChange(ada, 'scale');
    await Promise.all([confirm(url), ada.callApi('POST', '/api/cancel-subscription', { at })]);
    const truth = await atStripe.put();
    await notify('customer.subscription.updated', truth);
    const isOver = truth['status'] === 'canceled';
    const isScale = JSON.stringify(truth['items']).includes('latchkey_scale');
    const { plan, subscription } = await billingOf(ada);
    expect(plan).toBe(isOver ? 'free' : isScale ? 'scale' : 'pro');
    expect(subscription?.status ?? 'ended').toBe(
      isOver ? 'ended' : truth['cancel_at_period_end'] === true ? 'cancelled' : 'active',
    );
  },
);
