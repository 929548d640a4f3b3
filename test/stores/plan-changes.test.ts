import { expect, test } from 'vitest';
import { fastspring } from '../../src/stores/provider/fastspring.ts';
import { gumroad } from '../../src/stores/provider/gumroad.ts';
import { lemonsqueezy } from '../../src/stores/provider/lemonsqueezy.ts';
import { woocommerce } from '../../src/stores/provider/woocommerce.ts';
import * as spring from './bodies/fastspring.ts';
import * as gum from './bodies/gumroad.ts';
import * as lemon from './bodies/lemonsqueezy.ts';
import * as woo from './bodies/woocommerce.ts';
import { CHANGED, LATER, NEXT, NEXT_YEAR, PLANS, purchasesOf, sold, START } from './decided.ts';
import { openApi } from './module.ts';

// A subscription that is changed within its period: to another plan, another number of seats, or another interval.

const SPRING = { id: 'sub1', begin: Date.parse(START), next: Date.parse(NEXT) };
const springSub = (fields: Partial<spring.SpringSubscription>) =>
  spring.subscription({ ...SPRING, product: 'solo', changed: Date.parse(START), ...fields });
const springBody = (type: string, data: object) => ({ body: spring.body([{ type, data }]) });
const springFirst = [
  springBody(
    'order.completed',
    spring.order({ id: 'o1', product: 'solo', changed: Date.parse(START), subscription: 'sub1' }),
  ),
  springBody('subscription.activated', springSub({})),
];
const springCharge = (at: string, subscription: object | string) =>
  springBody(
    'subscription.charge.completed',
    spring.charge(spring.order({ id: `o-${at}`, changed: Date.parse(at) }), subscription, Date.parse(at)),
  );
const CHANGE = { product: 'team', quantity: 5, changed: Date.parse(CHANGED) };

test('of FastSpring, a change takes effect with the charge that bills it', () => {
  const changed = springBody('subscription.updated', springSub(CHANGE));
  expect(sold(fastspring, [...springFirst, changed], PLANS)).toEqual(['solo ×1 to 2027-02-10']);
  const prorated = springCharge(CHANGED, springSub(CHANGE));
  expect(sold(fastspring, [...springFirst, changed, prorated], PLANS)).toEqual(['team ×5 to 2027-02-10']);
  const moved = springSub({ ...CHANGE, next: Date.parse(LATER), changed: Date.parse(NEXT) });
  const rebill = springCharge(NEXT, moved);
  expect(sold(fastspring, [...springFirst, changed, rebill], PLANS)).toEqual(['team ×5 to 2027-03-10']);
  const bare = [springCharge(NEXT, 'sub1'), springBody('subscription.updated', moved)];
  expect(sold(fastspring, [...springFirst, changed, ...bare], PLANS)).toEqual(['team ×5 to 2027-03-10']);
});

test('of FastSpring, a change to a year is for a year', () => {
  const yearly = springSub({ ...CHANGE, next: Date.parse(NEXT_YEAR) });
  expect(sold(fastspring, [...springFirst, springCharge(CHANGED, yearly)], PLANS)).toEqual([
    'team ×5 to 2028-01-20',
  ]);
});

const LEMON = { id: '5', order: '1', createdAt: START, updatedAt: START, renewsAt: NEXT, variant: 1 };
const lemonSub = (fields: Partial<lemon.LemonSubscription> = {}) => ({
  body: lemon.event('subscription_updated', lemon.subscription({ ...LEMON, ...fields })),
});
const lemonInvoice = (id: string, createdAt: string, reason: lemon.LemonInvoice['reason']) => ({
  body: lemon.event(
    'subscription_payment_success',
    lemon.invoice({ id, subscription: '5', createdAt, reason: reason ?? 'renewal' }),
  ),
});
const LEMON_PLANS = { 1: 'solo', 2: 'team' };
const lemonFirst = [
  { body: lemon.event('order_created', lemon.order({ id: '1', createdAt: START, variant: 1 })) },
  lemonSub(),
  lemonInvoice('8', START, 'initial'),
];
const LEMON_CHANGE = { variant: 2, quantity: 5, updatedAt: CHANGED };

test('of Lemon Squeezy, a change takes effect with the invoice that bills it', async () => {
  const changed = lemonSub(LEMON_CHANGE);
  expect(sold(lemonsqueezy, [...lemonFirst, changed], LEMON_PLANS)).toEqual(['solo ×1 to 2027-02-10']);
  const renewed = [
    lemonInvoice('9', NEXT, 'renewal'),
    lemonSub({ ...LEMON_CHANGE, updatedAt: NEXT, renewsAt: LATER }),
  ];
  expect(sold(lemonsqueezy, [...lemonFirst, changed, ...renewed], LEMON_PLANS)).toEqual([
    'team ×5 to 2027-03-10',
  ]);
  const billed = lemonInvoice('10', CHANGED, 'updated');
  const { access } = openApi('key', {
    '/v1/subscription-invoices/10': { data: billed.body.data },
    '/v1/subscription-invoices?filter': { data: [], meta: { page: { currentPage: 1, lastPage: 1 } } },
    '/v1/subscriptions/5': { data: changed.body.data },
  });
  const asked = await lemonsqueezy.api!.ask!(access, 'invoice/10');
  expect(sold(lemonsqueezy, [...lemonFirst, changed, billed], LEMON_PLANS, asked)).toEqual([
    'team ×5 to 2027-02-10',
  ]);
});

test('of Lemon Squeezy, the refund of a renewal takes back the plan that it was for', () => {
  const refunded = lemon.invoice({ id: '9', subscription: '5', createdAt: NEXT, status: 'refunded' });
  const sent = [
    ...lemonFirst,
    lemonSub({ ...LEMON_CHANGE, updatedAt: NEXT, renewsAt: LATER }),
    { body: lemon.event('subscription_payment_refunded', refunded) },
  ];
  expect(sold(lemonsqueezy, sent, LEMON_PLANS)).toEqual(['solo ×1 to 2027-02-10']);
});

const WOO_PLANS = { 51: 'solo', 52: 'team' };
const wooOrder = (fields: Partial<woo.WooOrder>) => ({
  body: woo.order({ id: 727, status: 'completed', paidAt: '2027-01-10T12:00:00', ...fields }),
  topic: 'order.updated',
});
const wooSub = (fields: Partial<woo.WooSubscription>) => ({
  body: woo.subscription({
    id: 900,
    order: 727,
    status: 'active',
    modifiedAt: '2027-01-10T12:00:00',
    nextPayment: '2027-02-10T12:00:00',
    ...fields,
  }),
  topic: 'subscription.updated',
});
const wooSwitch = { id: 730, product: 52, quantity: 3, switchOf: 900, paidAt: '2027-01-20T12:00:00' };
const wooSwitched = wooSub({ product: 52, modifiedAt: '2027-01-20T12:00:00' });

test('of WooCommerce, a switch changes the license once it is paid, and is no second purchase', () => {
  const first = [wooOrder({}), wooSub({})];
  const open = wooOrder({ ...wooSwitch, status: 'pending', paidAt: null });
  expect(sold(woocommerce, [...first, open], WOO_PLANS)).toEqual(['solo ×1 to 2027-02-10']);
  expect(sold(woocommerce, [...first, wooOrder(wooSwitch), wooSwitched], WOO_PLANS)).toEqual([
    'team ×3 to 2027-02-10',
  ]);
});

test('of WooCommerce, a switch to a year is for a year, as the API tells', async () => {
  const paid = wooOrder(wooSwitch);
  const { body, topic } = wooSub({ product: 52, nextPayment: '2028-01-20T12:00:00' });
  const yearly = { body: { ...body, line_items: paid.body.line_items }, topic };
  const { access } = openApi('https://ck_a:cs_b@shop.example.com', {
    '/wp-json/wc/v3/subscriptions/900': yearly.body,
    '/wp-json/wc/v3/orders/730': paid.body,
  });
  expect(woocommerce.read({ body: JSON.stringify(paid.body), topic: paid.topic })).toMatchObject({
    asks: ['?early/900/730'],
  });
  const asked = await woocommerce.api!.ask!(access, 'early/900/730');
  expect(sold(woocommerce, [wooOrder({}), wooSub({}), paid, yearly], WOO_PLANS, asked)).toEqual([
    'team ×3 to 2028-01-20',
  ]);
});

test('of WooCommerce, a switch of one of several products replaces that one, as the API tells', async () => {
  const { line_items: items } = woo.order({ id: 1, status: 'completed', product: 40 });
  const withMore = ({ body, topic }: ReturnType<typeof wooOrder>) => ({
    body: { ...body, line_items: [...items, ...body.line_items] },
    topic,
  });
  const paid = wooOrder(wooSwitch);
  const { access } = openApi('https://ck_a:cs_b@shop.example.com', {
    '/wp-json/wc/v3/subscriptions/900': {
      ...wooSwitched.body,
      line_items: [...items, ...paid.body.line_items],
    },
    '/wp-json/wc/v3/orders/730': paid.body,
  });
  const asked = await woocommerce.api!.ask!(access, 'early/900/730');
  const first = [withMore(wooOrder({})), wooSub({})];
  expect(sold(woocommerce, [...first, paid], { ...WOO_PLANS, 40: 'addon' }, asked)).toEqual([
    'addon ×1 to 2027-02-10, team ×3 to 2027-02-10',
  ]);
});

test('of WooCommerce, other things of the order keep their licenses when a subscription is switched', () => {
  const { line_items: items } = woo.order({ id: 1, status: 'completed', product: 40 });
  const { body, topic } = wooOrder({});
  const both = { body: { ...body, line_items: [...body.line_items, ...items] }, topic };
  const products = { ...WOO_PLANS, 40: 'addon' };
  const before = sold(woocommerce, [both, wooSub({})], products);
  expect(before).toEqual(['addon ×1 to 2027-02-10, solo ×1 to 2027-02-10']);
  expect(sold(woocommerce, [both, wooSwitched], products)).toEqual(before);
});

test('of Gumroad, more seats are the new number from their charge on, which begins a period', async () => {
  const first: gum.GumroadSale = { id: 's1', subscription: 'm1', createdAt: START };
  const more = { ...first, id: 's2', quantity: 5, price: 900, createdAt: CHANGED, isRecurringCharge: true };
  const { access } = openApi('token', {
    '/v2/sales?': { success: true, sales: [more, first].map(gum.sale) },
  });
  const { facts } = await gumroad.api!.listRecent(access, Date.parse(START), null);
  expect(purchasesOf(facts, { orrery: 'solo' })).toEqual(['solo ×5 to 2027-02-20']);
});
