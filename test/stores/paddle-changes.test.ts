import { expect, test } from 'vitest';
import { paddle } from '../../src/stores/provider/paddle.ts';
import { adjustment, event, type PaddleTransaction, subscription, transaction } from './bodies/paddle.ts';
import { sold } from './decided.ts';
import { readBody } from './module.ts';

// A subscription of Paddle's that is changed within its period without proration, or charged once.

const PERIOD = { starts_at: '2027-01-10T12:00:00Z', ends_at: '2027-02-10T12:00:00Z' };
const REST = { starts_at: '2027-01-20T12:00:00Z', ends_at: PERIOD.ends_at };
const NEXT = { starts_at: PERIOD.ends_at, ends_at: '2027-03-10T12:00:00Z' };
const PLANS = { solo: 'solo', team: 'team' };

const sale = (id: string, fields: Partial<PaddleTransaction>) =>
  transaction({
    id,
    subscription: 'sub_1',
    period: PERIOD,
    createdAt: PERIOD.starts_at,
    price: 'solo',
    ...fields,
  });
const paid = (id: string, fields: Partial<PaddleTransaction>) => ({
  body: event('transaction.completed', sale(id, fields)),
});
const first = paid('txn_1', {});
const now = (items: [string, number][], updatedAt: string, period = PERIOD) => ({
  body: event(
    'subscription.updated',
    subscription({ id: 'sub_1', status: 'active', updatedAt, period, items }),
  ),
});
const begun = now([['solo', 1]], PERIOD.starts_at);
const update = { origin: 'subscription_update', period: REST, createdAt: REST.starts_at };

test('what is billed in full at once replaces the plan, and makes no second license', () => {
  const changed = [paid('txn_2', { ...update, price: 'team' }), now([['team', 1]], REST.starts_at)];
  expect(sold(paddle, [first, begun, ...changed], PLANS)).toEqual(['team ×1 to 2027-02-10']);
});

test('seats that are billed in full at once are as many as the subscription has then', () => {
  const more = [paid('txn_2', { ...update, quantity: 2 }), now([['solo', 3]], REST.starts_at)];
  expect(sold(paddle, [first, begun, ...more], PLANS)).toEqual(['solo ×3 to 2027-02-10']);
});

test('a change that isn’t billed waits for the renewal', () => {
  const changed = now([['team', 4]], REST.starts_at);
  expect(sold(paddle, [first, begun, changed], PLANS)).toEqual(['solo ×1 to 2027-02-10']);
  const renewal = paid('txn_2', {
    origin: 'subscription_recurring',
    period: NEXT,
    createdAt: NEXT.starts_at,
    price: 'team',
    quantity: 4,
  });
  expect(sold(paddle, [first, begun, changed, renewal], PLANS)).toEqual(['team ×4 to 2027-03-10']);
});

test('what is charged once beside a subscription has a license of its own, or waits for an offer', () => {
  const charge = paid('txn_2', { origin: 'subscription_charge', createdAt: REST.starts_at, price: 'pass' });
  expect(sold(paddle, [first, begun, charge], { ...PLANS, pass: 'pass' })).toEqual([
    'solo ×1 to 2027-02-10, pass ×1 to 2027-02-10',
  ]);
  const renewal = paid('txn_3', {
    origin: 'subscription_recurring',
    period: NEXT,
    createdAt: NEXT.starts_at,
  });
  expect(sold(paddle, [first, begun, charge, renewal], PLANS)).toEqual(['solo ×1 to 2027-03-10, no_offer']);
});

const refund = (transactionId: string) => ({
  body: event(
    'adjustment.updated',
    adjustment({
      id: `adj_${transactionId}`,
      action: 'refund',
      transaction: transactionId,
      subscription: 'sub_1',
      createdAt: '2027-01-21T12:00:00Z',
    }),
  ),
});

test('what is charged once beside a subscription doesn’t keep the license of a refunded one', () => {
  const charge = paid('txn_2', { origin: 'subscription_charge', createdAt: REST.starts_at, price: 'pass' });
  const plans = { ...PLANS, pass: 'pass' };
  expect(sold(paddle, [first, begun, charge, refund('txn_1')], plans)).toEqual([
    'revoked solo ×1 to 2027-02-10, pass ×1 to 2027-02-10',
  ]);
  expect(sold(paddle, [first, begun, charge, refund('txn_2')], plans)).toEqual([
    'solo ×1 to 2027-02-10, revoked pass ×1 to 2027-02-10',
  ]);
});

/** A transaction for several prices. With proration, it bills the difference. */
const paidFor = (
  id: string,
  prices: Record<string, number>,
  fields: Partial<PaddleTransaction> = {},
  proration: { rate: string } | null = null,
) => {
  const sent = sale(id, fields);
  const items = Object.entries(prices).flatMap(([price, quantity]) =>
    sent.items.map((item) => ({ ...item, price: { ...item.price, id: price }, quantity, proration })),
  );
  return { body: event('transaction.completed', { ...sent, items }) };
};

test('a change of one of several prices doesn’t keep the license of another one that was refunded', () => {
  const both = paidFor('txn_1', { solo: 1, seats: 2 });
  const items = (seats: number): [string, number][] => [
    ['solo', 1],
    ['seats', seats],
  ];
  const isNow = [now(items(2), PERIOD.starts_at), now(items(3), REST.starts_at)];
  const plans = { ...PLANS, seats: 'seats' };
  // Prorated, and in full.
  for (const proration of [{ rate: '0.5' }, null]) {
    const sent = [both, paidFor('txn_2', { seats: 1 }, update, proration), ...isNow];
    expect(sold(paddle, sent, plans)).toEqual(['seats ×3 to 2027-02-10, solo ×1 to 2027-02-10']);
    expect(sold(paddle, [...sent, refund('txn_1')], plans)).toEqual([
      'seats ×3 to 2027-02-10, revoked solo ×1 to 2027-02-10',
    ]);
  }
});

test('of prices that are added one after the other, each ends when its own payment is refunded', () => {
  const plans = { ...PLANS, seats: 'seats', pass: 'pass' };
  const later = '2027-01-20T12:00:00Z';
  const sent = [
    first,
    paidFor('txn_2', { seats: 1 }, update),
    paidFor('txn_3', { pass: 1 }, { ...update, createdAt: later }),
    now([['solo', 1]], PERIOD.starts_at),
    now(
      [
        ['solo', 1],
        ['seats', 1],
        ['pass', 1],
      ],
      later,
    ),
  ];
  const refunded = (id: string) => sold(paddle, [...sent, refund(id)], plans);
  expect(sold(paddle, sent, plans)).toEqual([
    'solo ×1 to 2027-02-10, seats ×1 to 2027-02-10, pass ×1 to 2027-02-10',
  ]);
  expect(refunded('txn_2')).toEqual([
    'solo ×1 to 2027-02-10, revoked seats ×1 to 2027-02-10, pass ×1 to 2027-02-10',
  ]);
  expect(refunded('txn_3')).toEqual([
    'solo ×1 to 2027-02-10, seats ×1 to 2027-02-10, revoked pass ×1 to 2027-02-10',
  ]);
});

test('a change of the card pays for nothing', () => {
  const at = '2027-01-20T12:00:00Z';
  const card = paid('txn_2', {
    origin: 'subscription_payment_method_change',
    period: { starts_at: at, ends_at: at },
    createdAt: at,
    quantity: 5,
    total: '0',
  });
  expect(readBody(paddle, card.body)).toEqual({ kind: 'nothing', type: 'transaction.completed' });
});
