import { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { stripe } from '../../src/stores/provider/stripe.ts';
import { charge, dispute, event, invoice, invoicePayment, session, subscription } from './bodies/stripe.ts';
import { deliver, factsOf, readBody } from './module.ts';

const SOLD_AT = '2027-01-10T12:00:00Z';
const ENDS_AT = '2027-02-10T12:00:00Z';
const BILLED = { id: 'in_1', createdAt: SOLD_AT, endsAt: ENDS_AT };
const told = (type: string, object: object, isLive = true) => factsOf(stripe, event(type, object, isLive));

test('a signature of Stripe’s is over its time and the bytes of the body', async () => {
  const payload = JSON.stringify(event('invoice.paid', invoice(BILLED)));
  const timestamp = 1_799_582_400;
  const { webhooks } = new Stripe('sk_test_x');
  const header = await webhooks.generateTestHeaderStringAsync({ payload, secret: 'whsec_shop', timestamp });
  const isSigned = (
    sent: string,
    body = payload,
    secrets = ['whsec_other', 'whsec_shop'],
    nowMs = timestamp * 1_000,
  ) => stripe.isSigned(deliver(body, { 'stripe-signature': sent }, { nowMs }), secrets);
  expect(isSigned(header)).toBe(true);
  expect(isSigned(header, `${payload} `)).toBe(false);
  expect(isSigned(header, payload, ['whsec_other'])).toBe(false);
  expect(isSigned(header, payload, ['whsec_shop'], (timestamp + 301) * 1_000)).toBe(false);
  expect(isSigned(header.replace('v1=', `v1=${'0'.repeat(64)},v1=`))).toBe(true);
  expect(isSigned(header.replace('v1=', 'v0='))).toBe(false);
});

test('a session names what the seller has written into it before its payment link, and no price', () => {
  const sold = session({ id: 'cs_1', intent: 'pi_1', link: 'plink_1', offer: 'pro', createdAt: SOLD_AT });
  expect(readBody(stripe, event('checkout.session.completed', sold))).toEqual({
    kind: 'facts',
    type: 'checkout.session.completed',
    facts: [
      {
        kind: 'ordered',
        about: 'session/cs_1',
        atMs: Date.parse(SOLD_AT),
        version: 0,
        buyer: { email: 'ada@example.com', name: 'Ada Byron', ref: 'customer/cus_1' },
        lines: [{ refs: ['pro', 'plink_1'], quantity: 1 }],
      },
      {
        kind: 'paid',
        about: 'session/cs_1',
        atMs: Date.parse(SOLD_AT),
        as: ['intent/pi_1'],
        number: 'pi_1',
        amount: 3_600,
        currency: 'usd',
      },
    ],
    asks: ['?session/cs_1'],
  });
});

test('a session that is completed and unpaid waits for its bank', () => {
  const debit = { id: 'cs_1', intent: 'pi_1', link: 'plink_1', createdAt: SOLD_AT };
  const kindsOf = (type: string, paymentStatus: string) =>
    told(type, session({ ...debit, paymentStatus })).map(({ kind }) => kind);
  expect(kindsOf('checkout.session.completed', 'unpaid')).toEqual(['ordered']);
  expect(kindsOf('checkout.session.async_payment_failed', 'unpaid')).toEqual(['ordered']);
  expect(kindsOf('checkout.session.async_payment_succeeded', 'paid')).toEqual(['ordered', 'paid']);
  expect(kindsOf('checkout.session.completed', 'no_payment_required')).toEqual(['ordered', 'paid']);
});

test('an invoice covers to the end of its lines, in the shapes before and since 2025-03-31', () => {
  const paid = {
    kind: 'paid',
    about: 'invoice/in_1',
    with: ['subscription/sub_1'],
    atMs: Date.parse(SOLD_AT),
    number: 'ORRERY-in_1',
    amount: 3_600,
    currency: 'usd',
    buyer: { email: 'ada@example.com', name: 'Ada Byron', ref: 'customer/cus_1' },
    lines: [{ refs: ['price_1', 'prod_1'], quantity: 3 }],
    covers: { untilMs: Date.parse(ENDS_AT), fromMs: Date.parse(SOLD_AT) },
  };
  expect(told('invoice.paid', invoice({ ...BILLED, quantity: 3 }))).toEqual([paid]);
  expect(told('invoice.paid', invoice({ ...BILLED, quantity: 3, shape: 'acacia' }))).toEqual([
    { ...paid, as: ['intent/pi_in_1', 'charge/ch_in_1'] },
  ]);
  const named = invoice({ ...BILLED, offer: 'pro' });
  expect(told('invoice.paid', named)).toMatchObject([{ lines: [{ refs: ['pro', 'price_1', 'prod_1'] }] }]);
});

test('of a change in the middle of a period, what it was changed to counts', () => {
  const changed = invoice({ ...BILLED, reason: 'subscription_update', price: 'price_2' });
  const [line] = changed.lines.data;
  const unused = {
    ...line!,
    amount: -1_500,
    pricing: { price_details: { price: 'price_1', product: 'prod_1' } },
  };
  const both = { ...changed, lines: { ...changed.lines, data: [unused, line] } };
  expect(told('invoice.paid', both)).toMatchObject([
    { lines: [{ refs: ['price_2', 'prod_1'], quantity: 1 }] },
  ]);
});

test('a renewal after changes counts what it renews, and not what was paid for the days before it', () => {
  const renewal = invoice({ ...BILLED, price: 'price_3', quantity: 4 });
  const [own] = renewal.lines.data;
  const ends = own!.period.end;
  /** A credit or a charge for the days from a change to the end of the period before. */
  const prorated = (price: string, day: number, amount: number, quantity: number) => ({
    ...own!,
    amount,
    quantity,
    period: { start: ends - 40 * 86_400 + day * 86_400, end: ends - 31 * 86_400 },
    pricing: { price_details: { price, product: 'prod_1' } },
  });
  const changes = [
    prorated('price_1', 1, -900, 1),
    prorated('price_2', 1, 1_900, 1),
    prorated('price_2', 2, -1_800, 1),
    prorated('price_3', 2, 2_800, 3),
    prorated('price_3', 3, -2_700, 3),
    prorated('price_3', 3, 3_700, 4),
  ];
  const linesOf = (data: object[]) =>
    told('invoice.paid', { ...renewal, lines: { ...renewal.lines, data } }).map(
      (fact) => 'lines' in fact && fact.lines,
    );
  const last = { refs: ['price_3', 'prod_1'], instead: ['price_1', 'price_2'] };
  const left = [[{ ...last, quantity: 4 }]];
  for (const data of [changes, [...changes, own!], [own!, ...changes.toReversed()]])
    expect(linesOf(data)).toEqual(left);
  expect(linesOf(changes.slice(0, 4))).toEqual([[{ ...last, quantity: 3 }]]);
});

test('an invoice and its payment are joined, since neither names the other', () => {
  expect(told('invoice_payment.paid', invoicePayment('in_1', 'pi_1'))).toEqual([
    { kind: 'joined', about: 'invoice/in_1', as: ['intent/pi_1'] },
  ]);
});

test('an overdue renewal is past due, and a first invoice never is', () => {
  const open = { ...BILLED, status: 'open' };
  expect(told('invoice.payment_failed', invoice(open))).toMatchObject([
    { kind: 'past_due', about: 'invoice/in_1', with: ['subscription/sub_1'] },
  ]);
  const first = invoice({ ...open, reason: 'subscription_create' });
  expect(readBody(stripe, event('invoice.payment_failed', first)).kind).toBe('nothing');
});

test('a charge’s refunds are a running sum, which belongs to what the charge has paid', () => {
  expect(told('charge.refunded', charge('ch_1', 'pi_1', 1_200))).toEqual([
    { kind: 'joined', about: 'charge/ch_1', as: ['intent/pi_1'] },
    { kind: 'refunded', about: 'charge/ch_1', of: 'charge/ch_1', amount: 1_200, version: 1_200 },
  ]);
  expect(told('charge.refunded', charge('ch_1', 'pi_1', 3_600, 'in_1'))).toMatchObject([
    { as: ['intent/pi_1', 'invoice/in_1'] },
    { amount: null },
  ]);
});

test('a dispute is open, won, or lost, and an inquiry is none', () => {
  const stateOf = (status: string) =>
    told('charge.dispute.updated', dispute('dp_1', 'ch_1', 'pi_1', status)).at(-1);
  expect(stateOf('needs_response')).toEqual({
    kind: 'disputed',
    about: 'dispute/dp_1',
    of: 'charge/ch_1',
    state: 'open',
  });
  expect(stateOf('won')).toMatchObject({ state: 'won' });
  expect(stateOf('lost')).toMatchObject({ state: 'lost' });
  const inquiry = dispute('dp_1', 'ch_1', 'pi_1', 'warning_needs_response');
  expect(readBody(stripe, event('charge.dispute.created', inquiry)).kind).toBe('nothing');
});

test('a subscription is over when it has ended, and not when that is planned', () => {
  const planned = { ...subscription('sub_1', 'active', SOLD_AT), cancel_at_period_end: true };
  expect(readBody(stripe, event('customer.subscription.updated', planned)).kind).toBe('nothing');
  expect(told('customer.subscription.deleted', subscription('sub_1', 'canceled', ENDS_AT))).toEqual([
    { kind: 'ended', about: 'subscription/sub_1', atMs: Date.parse(ENDS_AT) },
  ]);
  expect(told('customer.subscription.updated', subscription('sub_1', 'past_due', ENDS_AT))).toMatchObject([
    { kind: 'past_due', about: 'subscription/sub_1', atMs: Date.parse(ENDS_AT) },
  ]);
});

test('what is sent from test mode says so in each of its facts', () => {
  const sold = session({ id: 'cs_1', intent: 'pi_1', link: 'plink_1', createdAt: SOLD_AT });
  const sent = [
    ...told('checkout.session.completed', sold, false),
    ...told('invoice.paid', invoice(BILLED), false),
    ...told('charge.refunded', charge('ch_1', 'pi_1', 3_600), false),
  ];
  expect(sent.every(({ isTest }) => isTest === true)).toBe(true);
});

test('what isn’t as documented is told, and what no license depends on says nothing', () => {
  expect(readBody(stripe, event('invoice.paid', { id: 'in_1' })).kind).toBe('unreadable');
  expect(readBody(stripe, event('product.updated', { id: 'prod_1' }))).toEqual({
    kind: 'nothing',
    type: 'product.updated',
  });
});
