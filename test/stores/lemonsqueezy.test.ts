import { expect, test } from 'vitest';
import { lemonsqueezy } from '../../src/stores/provider/lemonsqueezy.ts';
import { event, invoice, order, subscription } from './bodies/lemonsqueezy.ts';
import { deliver, factsOf, readBody } from './module.ts';

const CREATED = '2027-01-10T12:00:00.000000Z';
const RENEWS = '2027-02-10T12:00:00.000000Z';
const OF = { id: '5', order: '1', createdAt: CREATED, updatedAt: CREATED, renewsAt: RENEWS };
type Sent = Parameters<typeof event>[1];
const told = (name: string, data: Sent) => factsOf(lemonsqueezy, event(name, data));
const kindsOf = (name: string, data: Sent) => told(name, data).map(({ kind }) => kind);

test('a signature of Lemon Squeezy’s is over the bytes of the body', () => {
  const signature = '7b6f37418dccaf0975a68e9267bb86e927efed1be85859bd0614ee07fad535f0';
  const isSigned = (body: string, secrets: string[], sent = signature) =>
    lemonsqueezy.isSigned(deliver(body, { 'x-signature': sent }), secrets);
  expect(isSigned('{"data":1}', ['other', 'lemon-secret'])).toBe(true);
  expect(isSigned('{"data":2}', ['lemon-secret'])).toBe(false);
  expect(isSigned('{"data":1}', ['other'])).toBe(false);
  expect(isSigned('{"data":1}', ['lemon-secret'], '')).toBe(false);
});

test('an order names its variant before its product, and who bought it', () => {
  expect(told('order_created', order({ id: '1', createdAt: CREATED, quantity: 3 }))).toEqual([
    {
      kind: 'paid',
      about: 'order/1',
      atMs: Date.parse(CREATED),
      buyer: { email: 'ada@example.com', name: 'Ada Byron', ref: 'customer/61' },
      number: '1042',
      lines: [{ refs: ['88001', '44001'], quantity: 3 }],
      amount: 3_600,
      currency: 'USD',
    },
  ]);
  expect(kindsOf('order_created', order({ id: '1', createdAt: CREATED, status: 'pending' }))).toEqual([
    'ordered',
  ]);
});

test('what is sent from the test mode says so in each of its facts', () => {
  const sent = [
    told('order_refunded', order({ id: '1', createdAt: CREATED, isTest: true, status: 'refunded' })),
    told('subscription_created', subscription({ ...OF, isTest: true })),
    told(
      'subscription_payment_success',
      invoice({ id: '9', subscription: '5', createdAt: CREATED, isTest: true }),
    ),
  ].flat();
  expect(sent.every(({ isTest }) => isTest === true)).toBe(true);
});

test('an invoice covers to the first renewal after it, which its subscription tells', () => {
  expect(
    told('subscription_payment_success', invoice({ id: '9', subscription: '5', createdAt: RENEWS })),
  ).toEqual([
    {
      kind: 'paid',
      about: 'invoice/9',
      with: ['subscription/5'],
      atMs: Date.parse(RENEWS),
      amount: 3_600,
      currency: 'USD',
      covers: { renewalAfterMs: Date.parse('2027-02-10T13:00:00Z') },
    },
    // The period before it has ended, also if nobody has told when.
    { kind: 'renews', about: 'subscription/5', untilMs: Date.parse(RENEWS) },
  ]);
  expect(told('subscription_updated', subscription(OF))).toContainEqual({
    kind: 'renews',
    about: 'subscription/5',
    untilMs: Date.parse(RENEWS),
    // The earliest copy says what the period was paid for.
    version: Number.MAX_SAFE_INTEGER - Date.parse(CREATED),
    lines: [{ refs: ['88001', '44001'], quantity: 1 }],
  });
});

test('an order and the first invoice of its subscription are one payment', () => {
  const first = invoice({ id: '8', subscription: '5', reason: 'initial', createdAt: CREATED });
  expect(told('subscription_payment_success', first)).toMatchObject([{ as: ['first-payment/5'] }]);
  expect(told('subscription_created', subscription(OF))).toContainEqual({
    kind: 'joined',
    about: 'first-payment/5',
    with: ['subscription/5'],
    as: ['order/1'],
  });
});

test('what was given back of an order is a running sum, and all of it is all', () => {
  const sold = { id: '1', createdAt: CREATED, status: 'partial_refund', refunded: 1_200 };
  const of = { kind: 'refunded', about: 'order/1', of: 'order/1' };
  expect(told('order_refunded', order(sold)).at(-1)).toMatchObject({ ...of, amount: 1_200, version: 1_200 });
  expect(told('order_refunded', order({ ...sold, status: 'refunded' })).at(-1)).toMatchObject({
    ...of,
    amount: null,
  });
});

test('a renewal’s refund is its invoice’s, whole or in part', () => {
  const renewal = { id: '9', subscription: '5', createdAt: RENEWS, refunded: 1_200 };
  const amountOf = (status: string) =>
    told('subscription_payment_refunded', invoice({ ...renewal, status }))[1];
  expect(amountOf('partial_refund')).toMatchObject({ kind: 'refunded', of: 'invoice/9', amount: 1_200 });
  expect(amountOf('refunded')).toMatchObject({ kind: 'refunded', of: 'invoice/9', amount: null });
});

test('while a payment fails, the next attempt is no end of a period', () => {
  const failing = { ...OF, status: 'past_due', renewsAt: '2027-02-13T12:00:00Z', updatedAt: RENEWS };
  expect(
    told('subscription_updated', subscription(failing)).filter(({ kind }) => kind !== 'ordered'),
  ).toEqual([
    expect.objectContaining({ kind: 'joined' }),
    { kind: 'past_due', about: 'subscription/5', atMs: Date.parse(RENEWS), version: Date.parse(RENEWS) },
  ]);
  const unpaid = invoice({ id: '9', subscription: '5', createdAt: RENEWS, status: 'pending' });
  expect(told('subscription_payment_failed', unpaid)).toMatchObject([
    { kind: 'past_due', about: 'invoice/9' },
    { kind: 'renews', untilMs: Date.parse(RENEWS) },
  ]);
});

test('a canceled subscription goes on to its end, and an expired one is over', () => {
  const canceled = subscription({ ...OF, status: 'cancelled', endsAt: RENEWS });
  expect(told('subscription_cancelled', canceled).map(({ kind }) => kind)).not.toContain('ended');
  const expired = subscription({ ...OF, status: 'expired', endsAt: RENEWS });
  expect(told('subscription_expired', expired).at(-1)).toEqual({
    kind: 'ended',
    about: 'subscription/5',
    atMs: Date.parse(RENEWS),
  });
});

test('a fraudulent order is disputed', () => {
  expect(kindsOf('order_refunded', order({ id: '1', createdAt: CREATED, status: 'fraudulent' }))).toEqual([
    'paid',
    'disputed',
  ]);
});

test('an invoice for a change in the middle of a period is asked about', () => {
  const changed = invoice({ id: '10', subscription: '5', reason: 'updated', createdAt: CREATED });
  expect(readBody(lemonsqueezy, event('subscription_payment_success', changed))).toMatchObject({
    asks: ['invoice/10'],
  });
});

test('what isn’t as documented is told, and a license key of Lemon Squeezy’s own says nothing', () => {
  expect(
    readBody(lemonsqueezy, { meta: { event_name: 'order_created' }, data: { type: 'orders', id: '1' } }),
  ).toEqual({
    kind: 'unreadable',
    problem: expect.any(String) as string,
  });
  const key = { type: 'license-keys', id: '1', attributes: { test_mode: false } };
  expect(readBody(lemonsqueezy, event('license_key_created', key))).toEqual({
    kind: 'nothing',
    type: 'license_key_created',
  });
});
