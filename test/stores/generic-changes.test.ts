import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decidePurchase } from '../../src/purchases/rules/decide.ts';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { generic } from '../../src/stores/provider/generic.ts';
import { openFacts, purchasesOf, sold, SUBSCRIPTION } from './decided.ts';
import { factsOf } from './module.ts';
import { paid } from './shop.ts';

// What a shop of the seller's own says more than once of one payment, or in parts.

const PLANS = { pro: 'pro' };
const FIRST = { order: '1', period_end: '2099-01-31' };
const sent = (...bodies: object[]) => bodies.map((body) => ({ body }));

const first = paid('1', { period_end: FIRST.period_end });
const renewed = { type: 'renewed', ...FIRST };
const SECOND = { order: '1', period_end: '2099-02-28' };

const decideOf = (bodies: object[]) => {
  const { facts, take } = openFacts();
  bodies.flatMap((body) => factsOf(generic, body)).forEach(take);
  return decidePurchase({
    facts: [...facts.values()].map((fact) => ({ fact, takenAtMs: 0 })),
    offers: new Map([['pro', SUBSCRIPTION]]),
    earlier: new Map(),
    assigned: null,
    acceptsTest: false,
  });
};

test('a payment that the shop also calls a renewal keeps its buyer and what was bought', () => {
  expect(sold(generic, sent(first, renewed), PLANS)).toEqual(['pro ×1 to 2099-01-31']);
  expect(sold(generic, sent(first, { ...renewed, quantity: 9 }), PLANS)).toEqual(['pro ×1 to 2099-01-31']);
});

test('a payment that was stored before a sale and a renewal were told apart is found again', () => {
  const stored = (body: object): StoreFact[] =>
    factsOf(generic, body).map((fact) => {
      const { version: _, ...rest } = fact;
      return rest;
    });
  const whole = ['pro ×1 to 2099-01-31'];
  expect(purchasesOf([...stored(renewed), ...factsOf(generic, first)], PLANS)).toEqual(whole);
  expect(purchasesOf([...stored(first), ...factsOf(generic, renewed)], PLANS)).toEqual(whole);
});

test('what was given back of prices in decimals is all of them, or all but a cent', () => {
  const day = (i: number) => ({ period_end: `2099-01-${10 + i}` });
  const pricesOf = (cents: number[]) =>
    cents.map((price, i) => ({ ...(i === 0 ? first : renewed), ...day(i), amount: price / 100 }));
  const statusOf = (cents: number[], refunded: number) => {
    const refund = { type: 'refunded', order: '1', amount: refunded / 100 };
    return sold(generic, sent(...pricesOf(cents), refund), PLANS)[0]?.split(' ')[0];
  };
  expect(statusOf([299, 299, 299, 299, 299], 1_495)).toBe('revoked');
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 2, max: 9_999_999 }), { minLength: 1, maxLength: 20 }),
      (cents) => {
        const sum = cents.reduce((total, price) => total + price, 0);
        expect(statusOf(cents, sum)).toBe('revoked');
        expect(statusOf(cents, sum - 1)).toBe('pro');
      },
    ),
    { numRuns: 300 },
  );
});

test('each renewal that fails is past due until it or a later one is paid', () => {
  const failed = { type: 'past_due', ...SECOND };
  const late = { type: 'renewed', order: '1', period_end: '2099-03-05' };
  const failedAgain = { type: 'past_due', order: '1', period_end: '2099-03-31' };
  const statusOf = (...bodies: object[]) => {
    const statuses = [bodies, bodies.toReversed()].map((some) => decideOf(some).status);
    return [...new Set(statuses)].join(' or ');
  };
  expect(statusOf(first)).toBe('fulfilled');
  expect(statusOf(first, failed)).toBe('past_due');
  expect(statusOf(first, failed, { ...failed, type: 'renewed' })).toBe('fulfilled');
  expect(statusOf(first, failed, late)).toBe('fulfilled');
  expect(statusOf(first, failed, late, failedAgain, failed)).toBe('past_due');
  expect(statusOf(first, failed, late, failedAgain, { ...failedAgain, type: 'renewed' })).toBe('fulfilled');
});

test('a renewal that failed may leave out its period, and is of the order then', () => {
  expect(factsOf(generic, { type: 'past_due', order: '1' })).toEqual([
    { kind: 'past_due', about: 'order/1', with: ['order/1'] },
  ]);
});
