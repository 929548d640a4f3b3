import { expect, test } from 'vitest';
import { woocommerce } from '../../src/stores/provider/woocommerce.ts';
import { deleted, order, subscription, type WooOrder } from './bodies/woocommerce.ts';
import { deliver, factsOf, listAll, openApi, readBody } from './module.ts';

const PAID_MS = Date.parse('2027-01-10T12:00:00Z');
const told = (changes: Partial<WooOrder>) =>
  factsOf(woocommerce, order({ id: 727, status: 'processing', ...changes }), 'order.updated');
const SUBSCRIPTION = {
  id: 900,
  order: 727,
  modifiedAt: '2027-01-10T12:00:00',
  nextPayment: '2027-02-10T12:00:00',
};
const ofSubscription = (changes: object) =>
  factsOf(
    woocommerce,
    subscription({ ...SUBSCRIPTION, status: 'active', ...changes }),
    'subscription.updated',
  );
const api = woocommerce.api!;

test('a signature of WooCommerce’s is over the bytes of the body', () => {
  const isSigned = (text: string, sent: string) =>
    woocommerce.isSigned(deliver(text, { 'x-wc-webhook-signature': sent }), ['other', 'woo-secret']);
  const signature = 'ueUaS+FSLDeq3KPWOJMOOfNu3pvS2EPB2OSU538lwN0=';
  expect(isSigned('{"id":1}', signature)).toBe(true);
  expect(isSigned('{"id":2}', signature)).toBe(false);
  expect(isSigned('{"id":1}', '')).toBe(false);
});

test('the form that WooCommerce posts when a webhook is saved is a ping, and nothing else is', () => {
  const isPing = (body: string) => woocommerce.isPing!(deliver(body));
  expect(['webhook_id=17', 'webhook_id=', 'webhook_id=17&x=1', '{"id":17}', ''].map(isPing)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a paid order names its variation before its product, and who bought it', () => {
  expect(told({ variation: 52, quantity: 3 })).toEqual([
    {
      kind: 'paid',
      about: 'order/727',
      atMs: PAID_MS,
      version: PAID_MS,
      number: '727',
      buyer: { email: 'ada@example.com', name: 'Ada Byron', ref: 'customer/26' },
      lines: [{ refs: ['52', '51'], quantity: 3 }],
      amount: 3_600,
      currency: 'USD',
      covers: { renewalAfterMs: PAID_MS + 3_600_000, orNone: true },
    },
    { kind: 'refunded', about: 'order/727', of: 'order/727', version: PAID_MS, amount: 0 },
  ]);
});

test('an order is paid by its status, whatever its topic is', () => {
  for (const status of ['pending', 'on-hold', 'failed', 'cancelled', 'checkout-draft', 'trash'])
    expect(told({ status, paidAt: null })).toMatchObject([{ kind: 'ordered' }]);
  for (const status of ['processing', 'completed']) expect(told({ status })[0]?.kind).toBe('paid');
});

test('what was paid and is refunded, canceled, or failed now was given back', () => {
  for (const status of ['refunded', 'cancelled', 'failed'])
    expect(told({ status }).at(-1)).toMatchObject({ kind: 'refunded', amount: null });
});

test('partial refunds add up exactly, and one that is deleted again counts no more', () => {
  const refunds = [
    { id: 1, total: '-12.10' },
    { id: 2, total: '-23.90' },
  ];
  expect(told({ refunds }).at(-1)).toMatchObject({ kind: 'refunded', amount: 3_600 });
  expect(told({ refunds: refunds.slice(0, 1) }).at(-1)).toMatchObject({ amount: 1_210 });
  expect(told({ refunds: [] }).at(-1)).toMatchObject({ amount: 0 });
});

test('a renewal belongs to its subscription, which tells until when it pays', () => {
  expect(told({ renewalOf: 900, createdVia: 'subscription' })[0]).toMatchObject({
    kind: 'paid',
    with: ['subscription/900'],
    covers: { renewalAfterMs: PAID_MS + 3_600_000 },
  });
  expect(ofSubscription({})).toMatchObject([
    { kind: 'ordered', about: 'subscription/900', with: ['order/727'] },
    { kind: 'renews', about: 'subscription/900', untilMs: Date.parse('2027-02-10T12:00:00Z') },
  ]);
});

test('a subscription that is to end runs to its end, and a canceled one is over', () => {
  const kindsOf = (changes: object) => ofSubscription(changes).map(({ kind }) => kind);
  const endsAt = '2027-02-10T12:00:00';
  expect(kindsOf({ status: 'pending-cancel', nextPayment: null, endsAt })).toEqual(['ordered', 'renews']);
  expect(kindsOf({ status: 'on-hold', nextPayment: null })).toEqual(['ordered', 'renews', 'past_due']);
  // Its first period's end follows from its start.
  expect(kindsOf({ status: 'cancelled', nextPayment: null, endsAt })).toEqual(['ordered', 'renews', 'ended']);
});

test('a deleted order stays what it was, and a product says nothing', () => {
  expect(readBody(woocommerce, deleted(727), 'order.deleted')).toEqual({
    kind: 'nothing',
    type: 'order.deleted',
  });
  expect(readBody(woocommerce, { id: 51, name: 'Orrery' }, 'product.updated').kind).toBe('nothing');
  expect(readBody(woocommerce, { id: 727 }, 'order.updated').kind).toBe('unreadable');
  expect(readBody(woocommerce, '{', 'order.updated').kind).toBe('unreadable');
  expect(factsOf(woocommerce, order({ id: 1, status: 'completed' }), null)[0]?.kind).toBe('paid');
});

test('WooCommerce’s lists by the last change find what never came, also without the extension', async () => {
  const many = Array.from({ length: 50 }, (_, i) => order({ id: i + 1, status: 'completed' }));
  const query =
    'modified_after=2027-01-10T12:00:00&dates_are_gmt=true&orderby=modified&order=desc&per_page=50';
  const { access, calls } = openApi('https://ck_a:cs_b@shop.example.com/store/', {
    [`/wp-json/wc/v3/orders?${query}&page=1`]: many,
    [`/wp-json/wc/v3/orders?${query}&page=2`]: [order({ id: 51, status: 'refunded' })],
    '/wp-json/wc/v3/subscriptions': () =>
      Promise.reject(Object.assign(new Error('No route'), { status: 404 })),
  });
  const { facts, pages } = await listAll(woocommerce, access, PAID_MS);
  expect([facts.filter(({ kind }) => kind === 'paid').length, pages]).toEqual([51, 3]);
  expect(api.origin(access.key)).toBe('https://shop.example.com/store');
  expect(calls[0]?.headers).toMatchObject({ authorization: 'Basic Y2tfYTpjc19i' });
  expect(await api.storeLink!(access, [], null)).toBe('https://shop.example.com/store/my-account/');
});

test('an order that a customer changes between two pages of WooCommerce’s list hides no other', async () => {
  let listed = Array.from({ length: 51 }, (_, i) => ({
    ...order({ id: i + 1, status: 'completed' }),
    changed: i,
  }));
  const list = (path: string) => {
    const query = new URL(path, 'https://shop.example.com').searchParams;
    const page = Number(query.get('page'));
    const isOldestFirst = query.get('order') === 'asc';
    const sorted = listed.toSorted((a, b) => (isOldestFirst ? a.changed - b.changed : b.changed - a.changed));
    listed = listed.map((one) => (one.id === 2 ? { ...one, changed: 100 } : one));
    return sorted.slice((page - 1) * 50, page * 50);
  };
  const { access } = openApi('https://ck_a:cs_b@shop.example.com', {
    '/wp-json/wc/v3/orders': list,
    '/wp-json/wc/v3/subscriptions': [],
  });
  const { facts } = await listAll(woocommerce, access, PAID_MS);
  expect(new Set(facts.map(({ about }) => about)).size).toBe(51);
});

test('an order that was paid early pays to the subscription’s next date, as the API tells', async () => {
  const base = order({ id: 728, status: 'completed', renewalOf: 900 });
  const early = {
    ...base,
    meta_data: [...base.meta_data, { id: 3, key: '_subscription_renewal_early', value: '900' }],
  };
  expect(readBody(woocommerce, early, 'order.updated')).toMatchObject({ asks: ['early/900/728'] });
  const { access } = openApi('https://ck_a:cs_b@shop.example.com', {
    '/wp-json/wc/v3/subscriptions/900': subscription({
      ...SUBSCRIPTION,
      status: 'active',
      nextPayment: '2027-03-10T12:00:00',
    }),
    '/wp-json/wc/v3/orders/728': early,
  });
  expect((await api.ask!(access, 'early/900/728'))[0]).toMatchObject({
    kind: 'paid',
    covers: { untilMs: Date.parse('2027-03-10T12:00:00Z') },
  });
});

test('a key of WooCommerce’s has the shop’s address', () => {
  const isGood = (key: string) => api.keyProblem!(key) === null;
  expect(
    ['https://ck_a:cs_b@shop.example.com', 'ck_a:cs_b', 'https://shop.example.com', 'ftp://a:b@c.d'].map(
      isGood,
    ),
  ).toEqual([true, false, false, false]);
});
