import { expect, test } from 'vitest';
import { type StoreFact, factName, replaces, thingsOf } from '../../src/purchases/rules/facts.ts';

test('a fact is named after its thing, whatever else it says', () => {
  const paid: StoreFact = { kind: 'paid', about: 'invoice/in_1', with: ['subscription/sub_1'], amount: 5 };
  expect(factName(paid)).toBe('invoice/in_1 paid');
  expect(factName({ ...paid, amount: 7 })).toBe('invoice/in_1 paid');
  expect(factName({ kind: 'joined', about: 'invoice/in_1', as: ['payment/pi_1'] })).toBe(
    'invoice/in_1 joined payment/pi_1',
  );
  expect(factName({ kind: 'renews', about: 'subscription/sub_1', untilMs: 5 })).toBe(
    'subscription/sub_1 renews 5',
  );
});

test('a fact finds its purchase by each thing that it names, and a customer is none of them', () => {
  const buyer = { ref: 'customer/cus_1' as const };
  expect(thingsOf({ kind: 'paid', about: 'order/1', as: ['payment/pi_1'], buyer })).toEqual([
    'order/1',
    'payment/pi_1',
  ]);
  expect(thingsOf({ kind: 'refunded', about: 'refund/re_1', of: 'payment/pi_1', amount: 5 })).toEqual([
    'refund/re_1',
    'payment/pi_1',
  ]);
  expect(thingsOf({ kind: 'buyer', about: 'customer/cus_1', email: 'grace@example.com' })).toEqual([]);
});

test('of two facts with one name, the same one counts in either order', () => {
  const sum: StoreFact = { kind: 'refunded', about: 'charge/ch_1', of: 'charge/ch_1', amount: 5, version: 5 };
  const greater: StoreFact = { ...sum, amount: 7, version: 7 };
  expect([replaces(greater, sum), replaces(sum, greater), replaces(sum, { ...sum })]).toEqual([
    true,
    false,
    false,
  ]);

  const open: StoreFact = { kind: 'disputed', about: 'dispute/dp_1', of: 'all', state: 'open' };
  expect([replaces({ ...open, state: 'won' }, open), replaces(open, { ...open, state: 'won' })]).toEqual([
    true,
    false,
  ]);

  const paid: StoreFact = { kind: 'paid', about: 'order/1', buyer: { email: 'a@example.com' } };
  const other: StoreFact = { kind: 'paid', buyer: { email: 'b@example.com' }, about: 'order/1' };
  expect(replaces(other, paid)).not.toBe(replaces(paid, other));
  expect(replaces({ kind: 'paid', buyer: { email: 'a@example.com' }, about: 'order/1' }, paid)).toBe(false);
});
