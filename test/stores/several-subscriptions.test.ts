import { expect, test } from 'vitest';
import { decidePurchase } from '../../src/purchases/rules/decide.ts';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { fastspring } from '../../src/stores/provider/fastspring.ts';
import { stripe } from '../../src/stores/provider/stripe.ts';
import { woocommerce } from '../../src/stores/provider/woocommerce.ts';
import * as spring from './bodies/fastspring.ts';
import { event, invoice } from './bodies/stripe.ts';
import * as woo from './bodies/woocommerce.ts';
import { NEXT, openFacts, PLANS, purchasesOf, sold, START, SUBSCRIPTION } from './decided.ts';
import { factsOf } from './module.ts';

// Two subscriptions in one order, one for a month and one for a year: each line is paid as long as its own.

const YEAR = '2028-01-10T12:00:00Z';
const LATER = '2027-03-10T12:00:00Z';
const [soldMs, nextMs, laterMs, yearMs] = [START, NEXT, LATER, YEAR].map(Date.parse) as [
  number,
  number,
  number,
  number,
];
const BOTH = ['solo ×1 to 2027-02-10, team ×1 to 2028-01-10'];

/** Returns the state of a purchase and the days of grace of its licenses. */
const stateOf = (sent: StoreFact[]) => {
  const { facts, take } = openFacts();
  sent.forEach(take);
  const { status, slots } = decidePurchase({
    facts: [...facts.values()].map((fact) => ({ fact, takenAtMs: 0 })),
    offers: new Map(Object.keys(PLANS).map((ref) => [ref, { ...SUBSCRIPTION, ref, product: ref }])),
    earlier: new Map(),
    assigned: null,
    acceptsTest: false,
  });
  return [status, ...slots.map(({ wanted }) => wanted.graceDays)];
};

const item = (product: string, subscription: string | object) =>
  spring.order({ id: 'o1', changed: soldMs, product, subscription }).items;
const springOrder = (team: string | object = 'sub2') => ({
  ...spring.order({ id: 'o1', changed: soldMs }),
  items: [...item('solo', 'sub1'), ...item('team', team)],
});
const solo = (fields: Partial<spring.SpringSubscription> = {}) =>
  spring.subscription({
    id: 'sub1',
    product: 'solo',
    begin: soldMs,
    changed: soldMs,
    next: nextMs,
    ...fields,
  });
const team = (fields: Partial<spring.SpringSubscription> = {}) => ({
  ...spring.subscription({
    id: 'sub2',
    product: 'team',
    begin: soldMs,
    changed: soldMs,
    next: yearMs,
    ...fields,
  }),
  intervalUnit: 'year',
});
const springBody = (type: string, data: object) => ({ body: spring.body([{ type, data }]) });
const springFirst = [
  springBody('order.completed', springOrder()),
  springBody('subscription.activated', solo()),
  springBody('subscription.activated', team()),
];
const springFacts = (...more: { body: object }[]) =>
  [...springFirst, ...more].flatMap(({ body }) => factsOf(fastspring, body));
const rebill = (subscription: object | string, at = nextMs) =>
  springBody('subscription.charge.completed', spring.charge(`o-${at}`, subscription, at));

test('of FastSpring, each subscription of an order is paid to its own next charge', () => {
  expect(sold(fastspring, springFirst, PLANS)).toEqual(BOTH);
  const renewed = solo({ next: laterMs, changed: nextMs });
  const after = ['solo ×1 to 2027-03-10, team ×1 to 2028-01-10'];
  expect(sold(fastspring, [...springFirst, rebill(renewed)], PLANS)).toEqual(after);
  const bare = [rebill('sub1'), springBody('subscription.updated', renewed)];
  expect(sold(fastspring, [...springFirst, ...bare], PLANS)).toEqual(after);
});

test('of FastSpring, two subscriptions for the same product are two licenses', () => {
  const second = team({ product: 'solo' });
  const sent = [
    springBody('order.completed', {
      ...springOrder(),
      items: [...item('solo', 'sub1'), ...item('solo', 'sub2')],
    }),
    springBody('subscription.activated', solo()),
    springBody('subscription.activated', second),
  ];
  expect(sold(fastspring, sent, PLANS)).toEqual(['solo ×1 to 2027-02-10, solo ×1 to 2028-01-10']);
});

test('of FastSpring, a change of one subscription changes its own license', () => {
  const changed = team({ product: 'solo', changed: nextMs });
  expect(sold(fastspring, [...springFirst, rebill(changed)], PLANS)).toEqual([
    'solo ×1 to 2027-02-10, solo ×1 to 2028-01-10',
  ]);
});

test('facts of an order that were stored without the subscription of each line are understood by its product', () => {
  const facts = springFacts().map((fact) =>
    fact.kind === 'paid'
      ? { ...fact, lines: fact.lines!.map(({ refs, quantity }) => ({ refs, quantity })) }
      : fact,
  );
  expect(purchasesOf(facts, PLANS)).toEqual(BOTH);
});

test('while one of two subscriptions lives, the purchase has not ended, and its license has its grace', () => {
  const over = { state: 'deactivated', next: null, end: nextMs };
  const soloEnds = springBody('subscription.deactivated', solo(over));
  const teamEnds = springBody('subscription.deactivated', team({ ...over, end: yearMs }));
  expect(stateOf(springFacts())).toEqual(['fulfilled', 7, 7]);
  expect(stateOf(springFacts(soloEnds))).toEqual(['fulfilled', 0, 7]);
  expect(stateOf(springFacts(teamEnds))).toEqual(['fulfilled', 7, 0]);
  expect(stateOf(springFacts(soloEnds, teamEnds))).toEqual(['ended', 0, 0]);
});

test('a subscription is past due whatever another one of its purchase has paid', () => {
  const overdue = springBody('subscription.payment.overdue', solo({ state: 'overdue', changed: nextMs }));
  expect(stateOf(springFacts(overdue))).toEqual(['past_due', 7, 7]);
  const renewed = rebill(solo({ next: laterMs, changed: nextMs }));
  expect(stateOf(springFacts(overdue, renewed))).toEqual(['fulfilled', 7, 7]);
});

const WOO_PLANS = { 51: 'solo', 52: 'team' };
const { line_items: moreItems } = woo.order({ id: 1, status: 'completed', product: 52 });
const wooOrder = woo.order({ id: 727, status: 'completed' });
const wooFirst = {
  body: { ...wooOrder, line_items: [...wooOrder.line_items, ...moreItems] },
  topic: 'order.updated',
};
const wooSub = (id: number, product: number, nextPayment: string | null, fields: object = {}) => ({
  body: {
    ...woo.subscription({
      id,
      order: 727,
      status: 'active',
      product,
      nextPayment,
      modifiedAt: '2027-01-10T12:00:00',
    }),
    ...fields,
  },
  topic: 'subscription.updated',
});
const wooSold = [
  wooFirst,
  wooSub(900, 51, '2027-02-10T12:00:00'),
  wooSub(901, 52, '2028-01-10T12:00:00', { billing_period: 'year' }),
];

test('of WooCommerce, each subscription of an order is paid to its own next payment', () => {
  expect(sold(woocommerce, wooSold, WOO_PLANS)).toEqual(BOTH);
  const renewed = [
    {
      body: {
        ...woo.order({ id: 801, status: 'completed', renewalOf: 900, paidAt: '2027-02-10T12:02:00' }),
        date_created_gmt: '2027-02-10T12:01:00',
      },
      topic: 'order.updated',
    },
    wooSub(900, 51, '2027-03-10T12:00:00', { date_modified_gmt: '2027-02-10T12:03:00' }),
  ];
  expect(sold(woocommerce, [...wooSold, ...renewed], WOO_PLANS)).toEqual([
    'solo ×1 to 2027-03-10, team ×1 to 2028-01-10',
  ]);
});

test('of WooCommerce, a subscription that is changed to what another one is for leaves that one its license', () => {
  const changed = wooSub(900, 52, '2027-03-10T12:00:00', { date_modified_gmt: '2027-02-10T12:03:00' });
  expect(sold(woocommerce, [...wooSold, changed], WOO_PLANS)).toEqual(BOTH);
});

test('of WooCommerce, a subscription that goes on in a new one lives', () => {
  const facts = [
    ...wooSold,
    wooSub(900, 51, null, { status: 'switched', end_date_gmt: '2027-01-20T12:00:00' }),
    {
      body: woo.order({
        id: 730,
        status: 'completed',
        product: 51,
        switchOf: 900,
        paidAt: '2027-01-20T12:00:00',
      }),
      topic: 'order.updated',
    },
    wooSub(902, 51, '2027-04-10T12:00:00', { parent_id: 730 }),
    {
      body: woo.order({ id: 802, status: 'completed', renewalOf: 902, paidAt: '2027-02-10T12:00:00' }),
      topic: 'order.updated',
    },
  ].flatMap(({ body, topic }) => factsOf(woocommerce, body, topic));
  expect(purchasesOf(facts, WOO_PLANS)).toEqual(['solo ×1 to 2027-04-10, team ×1 to 2028-01-10']);
});

test('of Stripe, each line of an invoice is paid to its own end', () => {
  const sent = invoice({
    id: 'in_1',
    createdAt: START,
    endsAt: NEXT,
    reason: 'subscription_create',
    price: 'solo',
  });
  const [line] = sent.lines.data;
  const yearly = {
    ...line!,
    period: { ...line!.period, end: yearMs / 1_000 },
    pricing: { type: 'price_details', price_details: { price: 'team', product: 'prod_2' } },
  };
  const fee = {
    ...line!,
    period: { start: soldMs / 1_000, end: soldMs / 1_000 },
    pricing: { price_details: { price: 'fee', product: 'prod_3' } },
  };
  const paid = {
    body: event('invoice.paid', { ...sent, lines: { ...sent.lines, data: [line, yearly, fee] } }),
  };
  expect(sold(stripe, [paid], { ...PLANS, fee: 'fee' })).toEqual([`fee ×1 to 2028-01-10, ${BOTH[0]}`]);
  const renewal = {
    body: event('invoice.paid', invoice({ id: 'in_2', createdAt: NEXT, endsAt: LATER, price: 'solo' })),
  };
  expect(sold(stripe, [paid, renewal], { ...PLANS, fee: 'fee' })).toEqual([
    'fee ×1 to 2028-01-10, solo ×1 to 2027-03-10, team ×1 to 2028-01-10',
  ]);
});
