import { expect, test } from 'vitest';
import { stripe } from '../../src/stores/provider/stripe.ts';
import { sold } from './decided.ts';
import { type Line, paid } from './stripe-lines.ts';

// A subscription of Stripe's that is changed to a plan that costs nothing, or from one, or to another interval.

const PLANS = { price_pro: 'pro', price_team: 'team' };

const pro = (id: string, from: string, to: string) =>
  paid(id, from, 'subscription_cycle', [{ price: 'price_pro', amount: 900, from, to }]);

const toFree = paid('in_2', '2027-01-20', 'subscription_update', [
  { price: 'price_pro', amount: -600, from: '2027-01-20', to: '2027-02-10', isCredit: true },
  { price: 'price_free', amount: 0, from: '2027-01-20', to: '2027-02-20' },
]);
const free = (id: string, from: string, to: string) =>
  paid(id, from, 'subscription_cycle', [{ price: 'price_free', amount: 0, from, to }]);

test('a plan that costs nothing and has no offer doesn’t prolong the license of the plan before', () => {
  const sent = [pro('in_1', '2027-01-10', '2027-02-10'), toFree, free('in_3', '2027-02-20', '2027-03-20')];
  expect(sold(stripe, sent, PLANS)).toEqual(['pro ×1 to 2027-02-10, no_offer']);
  expect(sold(stripe, sent, { ...PLANS, price_free: 'free' })).toEqual(['free ×1 to 2027-03-20']);
});

test('a plan that costs nothing is left for one that costs something, with one license', () => {
  const toPro = paid('in_2', '2027-01-20', 'subscription_update', [
    { price: 'price_free', amount: 0, from: '2027-01-20', to: '2027-02-10', isCredit: true },
    { price: 'price_pro', amount: 900, from: '2027-01-20', to: '2027-02-20' },
  ]);
  const sent = [free('in_1', '2027-01-10', '2027-02-10'), toPro];
  expect(sold(stripe, sent, PLANS)).toEqual(['pro ×1 to 2027-02-20']);
  expect(sold(stripe, sent, { ...PLANS, price_free: 'free' })).toEqual(['pro ×1 to 2027-02-20']);
});

test('whoever returns from a plan that costs nothing has the license again', () => {
  const back = paid('in_4', '2027-03-01', 'subscription_update', [
    { price: 'price_free', amount: 0, from: '2027-03-01', to: '2027-03-20', isCredit: true },
    { price: 'price_pro', amount: 900, from: '2027-03-01', to: '2027-04-01' },
  ]);
  const sent = [
    pro('in_1', '2027-01-10', '2027-02-10'),
    toFree,
    free('in_3', '2027-02-20', '2027-03-20'),
    back,
  ];
  expect(sold(stripe, sent, PLANS)).toEqual(['pro ×1 to 2027-04-01']);
});

test('a trial without a payment covers its days, and a plan without an offer waits for one', () => {
  const trial = paid('in_1', '2027-01-10', 'subscription_create', [
    { price: 'price_pro', amount: 0, from: '2027-01-10', to: '2027-01-24' },
  ]);
  expect(sold(stripe, [trial], PLANS)).toEqual(['pro ×1 to 2027-01-24']);
  expect(sold(stripe, [trial], {})).toEqual(['no_offer']);
});

test('a change from a year to a month has the new plan at once, and its payment covers no year', () => {
  const year = pro('in_1', '2027-01-10', '2028-01-10');
  const month = paid('in_2', '2027-01-20', 'subscription_update', [
    { price: 'price_pro', amount: -8_000, from: '2027-01-20', to: '2028-01-10', isCredit: true },
    { price: 'price_team', amount: 2_900, from: '2027-01-20', to: '2027-02-20' },
  ]);
  expect(sold(stripe, [year, month], PLANS)).toEqual(['team ×1 to 2028-01-10']);
  expect(sold(stripe, [month], PLANS)).toEqual(['team ×1 to 2027-02-20']);
});

test('a new price of the same product goes on with the license, and a free one of it doesn’t', () => {
  const first = pro('in_1', '2027-01-10', '2027-02-10');
  const renewed = (price: string, amount: number) =>
    paid('in_2', '2027-02-10', 'subscription_cycle', [
      { price, product: 'prod_pro', amount, from: '2027-02-10', to: '2027-03-10' },
    ]);
  expect(sold(stripe, [first, renewed('price_pro_2027', 1_200)], PLANS)).toEqual(['pro ×1 to 2027-03-10']);
  expect(sold(stripe, [first, renewed('price_free', 0)], PLANS)).toEqual(['pro ×1 to 2027-02-10, no_offer']);
  expect(sold(stripe, [first, renewed('price_pro', 0)], PLANS)).toEqual(['pro ×1 to 2027-03-10']);
});

test('two things that are added to a subscription at once are two licenses', () => {
  const period = { amount: 900, from: '2027-02-10', to: '2027-03-10' };
  const renewal = paid('in_2', '2027-02-10', 'subscription_cycle', [
    { price: 'price_pro', ...period },
    { price: 'price_a', ...period },
    { price: 'price_b', ...period },
  ]);
  const products = { ...PLANS, price_a: 'a', price_b: 'b' };
  expect(sold(stripe, [pro('in_1', '2027-01-10', '2027-02-10'), renewal], products)).toEqual([
    'pro ×1 to 2027-03-10, b ×1 to 2027-03-10, a ×1 to 2027-03-10',
  ]);
});

test('a price that is billed by its usage, after the period, is paid as long as the invoice', () => {
  const flat = (from: string, to: string): Line => ({ price: 'price_pro', amount: 900, from, to });
  const usage = (amount: number): Line => ({
    price: 'price_calls',
    amount,
    from: '2027-01-10',
    to: '2027-02-10',
  });
  const first = paid('in_1', '2027-01-10', 'subscription_create', [
    flat('2027-01-10', '2027-02-10'),
    usage(0),
  ]);
  const second = paid('in_2', '2027-02-10', 'subscription_cycle', [
    flat('2027-02-10', '2027-03-10'),
    usage(1_200),
  ]);
  expect(sold(stripe, [first, second], { ...PLANS, price_calls: 'calls' })).toEqual([
    'calls ×1 to 2027-03-10, pro ×1 to 2027-03-10',
  ]);
});

test('beside two intervals, what is billed by its usage is paid as long as the shorter one', () => {
  const sent = paid('in_1', '2027-01-10', 'subscription_create', [
    { price: 'price_year', amount: 900, from: '2027-01-10', to: '2028-01-10' },
    { price: 'price_month', amount: 900, from: '2027-01-10', to: '2027-02-10' },
    { price: 'price_calls', amount: 1_200, from: '2026-12-10', to: '2027-01-10' },
  ]);
  const products = { price_year: 'year', price_month: 'month', price_calls: 'calls' };
  expect(sold(stripe, [sent], products)).toEqual([
    'calls ×1 to 2027-02-10, month ×1 to 2027-02-10, year ×1 to 2028-01-10',
  ]);
});
