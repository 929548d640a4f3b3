import { expect, test } from 'vitest';
import { polar } from '../../src/stores/provider/polar.ts';
import { event, fullSubscription, order, subscription } from './bodies/polar.ts';
import { deliver, factsOf, listAll, openApi, readBody } from './module.ts';

const START = '2027-01-10T12:00:00Z';
const END = '2027-02-10T12:00:00Z';
const OF = { id: 'sub-1', start: START, end: END };
const SOLD = { id: 'order-1', createdAt: '2027-01-10T11:59:59Z' };
const FIRST = { ...SOLD, reason: 'subscription_create', subscription: subscription(OF) } as const;
const told = (type: string, data: object) => factsOf(polar, event(type, data));
const api = polar.api!;

test('Polar’s key is the bytes of the whole secret, with its prefix', () => {
  const signature = 'v1,AsmgD2ndiLQWfBmkKpUdsYiZhoJqAaKssoqV6/YX7bY=';
  const isSigned = (secret: string, body = '{"type":"order.paid"}', nowMs = 1_799_582_410_000) => {
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1799582400',
      'webhook-signature': signature,
    };
    return polar.isSigned(deliver(body, headers, { nowMs }), ['polar_whs_other', secret]);
  };
  expect(isSigned('whsec_cG9sYXI=')).toBe(true);
  expect(isSigned('cG9sYXI=')).toBe(false);
  expect(isSigned('whsec_cG9sYXI=', '{"type":"order.paid" }')).toBe(false);
  expect(isSigned('whsec_cG9sYXI=', undefined, 1_799_582_400_000 + 301_000)).toBe(false);
});

test('a paid order names its price before its product, and who bought it', () => {
  expect(told('order.paid', order({ ...SOLD, seats: 5 }))).toEqual([
    {
      kind: 'paid',
      about: 'order/order-1',
      atMs: Date.parse(SOLD.createdAt),
      number: 'ORRERY-0001',
      buyer: {
        email: 'ada@example.com',
        name: 'Ada Byron',
        ref: 'customer/992fae2a-2a17-4b7a-8d9e-e287cf90131b',
      },
      lines: [
        {
          refs: ['196ca717-4d84-4d28-a1b8-777255797dbc', 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23'],
          quantity: 5,
        },
      ],
      amount: 3_600,
      currency: 'usd',
    },
  ]);
  expect(told('order.created', order({ ...SOLD, status: 'pending' }))).toMatchObject([{ kind: 'ordered' }]);
});

test('the order of a period pays to its end, and later copies agree', () => {
  const renews = [START, END].map((at) => ({
    kind: 'renews',
    about: 'subscription/sub-1',
    untilMs: Date.parse(at),
  }));
  expect(told('order.paid', order(FIRST))).toMatchObject([
    { kind: 'paid', with: ['subscription/sub-1'], covers: { untilMs: Date.parse(END) }, version: 1 },
    ...renews,
  ]);
  // A month later, the subscription in the order is in its next period.
  const later = subscription({ ...OF, start: END, end: '2027-03-10T12:00:00Z' });
  expect(told('order.updated', order({ ...FIRST, subscription: later }))[0]).toMatchObject({
    kind: 'paid',
    covers: { renewalAfterMs: Date.parse('2027-01-10T12:59:59Z') },
  });
});

test('what was given back is a running sum with its taxes, and all of it is all', () => {
  const partial = { ...SOLD, status: 'partially_refunded', refunded: 1_000, refundedTax: 200 };
  const of = { kind: 'refunded', about: 'order/order-1', of: 'order/order-1' };
  expect(told('order.refunded', order(partial)).at(-1)).toEqual({ ...of, amount: 1_200, version: 1_200 });
  const all = { ...partial, status: 'refunded', refunded: 3_000, refundedTax: 600 };
  expect(told('order.refunded', order(all)).at(-1)).toMatchObject({ ...of, amount: null });
});

test('a subscription that was canceled goes on, and a revoked one is over', () => {
  const kindsOf = (type: string, changes: object) =>
    told(type, fullSubscription({ ...OF, ...changes })).map(({ kind }) => kind);
  expect(kindsOf('subscription.canceled', { cancelsAtEnd: true })).not.toContain('ended');
  expect(kindsOf('subscription.updated', { status: 'past_due' })).toContain('past_due');
  expect(kindsOf('subscription.revoked', { status: 'canceled' })).toContain('ended');
  expect(kindsOf('subscription.updated', { status: 'canceled', endedAt: END })).toContain('ended');
});

test('what isn’t as documented is told, and what no license depends on says nothing', () => {
  expect(readBody(polar, event('order.paid', { id: 'order-1' })).kind).toBe('unreadable');
  expect(readBody(polar, event('benefit.created', {}))).toEqual({ kind: 'nothing', type: 'benefit.created' });
});

test('Polar’s lists find what never came, and a refund leads to its order', async () => {
  const page = (items: object[], max_page = 1) => ({ items, pagination: { total_count: 3, max_page } });
  const { access, calls } = openApi('sandbox:polar_oat_x', {
    '/v1/orders/?limit=100&page=1': page([order({ ...SOLD, id: 'order-2' })], 2),
    '/v1/orders/?limit=100&page=2': page(
      [order(SOLD), order({ ...SOLD, createdAt: '2026-01-01T00:00:00Z' })],
      2,
    ),
    '/v1/refunds/': page([{ id: 'r1', order_id: 'order-0', created_at: START }]),
    '/v1/subscriptions/': page([fullSubscription({ ...OF, status: 'canceled', endedAt: END })]),
    '/v1/orders/order-0': order({ ...SOLD, id: 'order-0', status: 'refunded' }),
  });
  const { facts, asks } = await listAll(polar, access, Date.parse('2027-01-09T00:00:00Z'));
  expect(facts.filter(({ kind }) => kind === 'paid' || kind === 'ended').map(({ about }) => about)).toEqual([
    'order/order-2',
    'order/order-1',
    'subscription/sub-1',
  ]);
  expect(asks).toEqual(['order/order-0']);
  expect((await api.ask!(access, 'order/order-0')).at(-1)).toMatchObject({ kind: 'refunded', amount: null });
  expect([api.origin(access.key), calls[0]?.headers]).toEqual([
    'https://sandbox-api.polar.sh',
    { authorization: 'Bearer polar_oat_x' },
  ]);
});

test('Polar opens the customer’s own page', async () => {
  const url = 'https://polar.sh/orrery/portal?customer_session_token=x';
  const { access, calls } = openApi('polar_oat_x', {
    '/v1/customer-sessions/': { customer_portal_url: url },
  });
  expect(await api.storeLink!(access, ['order/order-1'], 'customer/c-1')).toBe(url);
  expect(calls[0]).toMatchObject({ method: 'POST', json: { customer_id: 'c-1' } });
  expect(await api.storeLink!(access, ['order/order-1'], null)).toBeNull();
  expect(api.origin(access.key)).toBe('https://api.polar.sh');
});
