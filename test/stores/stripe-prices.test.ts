import { expect, test } from 'vitest';
import { stripe } from '../../src/stores/provider/stripe.ts';
import { sold } from './decided.ts';
import { type Line, paid } from './stripe-lines.ts';

// A subscription of Stripe's with several prices, of which some are changed and others are added.

const JANUARY = { from: '2027-01-10', to: '2027-02-10' };
const FEBRUARY = { from: '2027-02-10', to: '2027-03-10' };
const line = (price: string, of: { from: string; to: string }) => ({ price, amount: 900, ...of });
const left = (price: string, from = '2027-01-20') => ({
  ...line(price, { from, to: '2027-02-10' }),
  isProration: true,
});
const credit = (price: string) => ({ ...left(price), amount: -600, isCredit: true });
const startOf = (...lines: Line[]) => paid('in_1', '2027-01-10', 'subscription_create', lines);
const changeOf = (...lines: Line[]) => paid('in_2', '2027-01-20', 'subscription_update', lines);
const cycleOf = (...lines: Line[]) => paid('in_3', '2027-02-10', 'subscription_cycle', lines);

test.for([
  ['price_b_solo', 'price_b_team', 'price_a_addon'],
  ['price_a_solo', 'price_a_team', 'price_b_addon'],
] as const)(
  'a change of one price of a subscription changes its own license, whatever the prices are called: %s',
  ([solo, team, addon]) => {
    const products = { [solo]: 'solo', [team]: 'team', [addon]: 'addon' };
    const licenses = (...sent: { body: object }[]) => sold(stripe, sent, products).join('').split(', ');
    const first = startOf(line(solo, JANUARY), line(addon, JANUARY));
    const change = changeOf(credit(solo), left(team));
    const before = licenses(first);
    const places = before.map((license) => (license.startsWith('solo') ? 'team' : 'addon'));
    expect(before.toSorted()).toEqual(['addon ×1 to 2027-02-10', 'solo ×1 to 2027-02-10']);
    expect(licenses(first, change)).toEqual(places.map((product) => `${product} ×1 to 2027-02-10`));
    const renewal = cycleOf(line(team, FEBRUARY), line(addon, FEBRUARY));
    expect(licenses(first, change, renewal)).toEqual(places.map((product) => `${product} ×1 to 2027-03-10`));
  },
);

test('a price that is changed when its month is over takes no license that is paid for a year', () => {
  const products = { price_a: 'plan', price_b: 'small', price_c: 'big' };
  const first = startOf(line('price_a', { from: '2027-01-10', to: '2028-01-10' }), line('price_b', JANUARY));
  expect(sold(stripe, [first, cycleOf(line('price_c', FEBRUARY))], products)).toEqual([
    'plan ×1 to 2028-01-10, big ×1 to 2027-03-10',
  ]);
});

test('a price that is added within a period is a license of its own, also beside a changed one', () => {
  const products = { price_a: 'a', price_b: 'b', price_c: 'c', price_d: 'd' };
  const first = startOf(line('price_b', JANUARY));
  expect(sold(stripe, [first, changeOf(left('price_a'))], products)).toEqual([
    'b ×1 to 2027-02-10, a ×1 to 2027-02-10',
  ]);
  const both = startOf(line('price_a', JANUARY), line('price_b', JANUARY));
  const change = changeOf(credit('price_b'), left('price_c'), left('price_d'));
  expect(sold(stripe, [both, change], products)).toEqual([
    'a ×1 to 2027-02-10, c ×1 to 2027-02-10, d ×1 to 2027-02-10',
  ]);
});

test('a price that is added while the renewal is still to be paid takes no license', () => {
  const products = { price_a: 'solo', price_b: 'extra' };
  const first = startOf(line('price_a', JANUARY));
  const added = paid('in_2', '2027-02-12', 'subscription_update', [
    { ...left('price_b', '2027-02-12'), to: '2027-03-10' },
  ]);
  const renewal = cycleOf(line('price_a', FEBRUARY));
  const both = ['solo ×1 to 2027-03-10, extra ×1 to 2027-03-10'];
  expect(sold(stripe, [first, added], products)).toEqual(['solo ×1 to 2027-02-10, extra ×1 to 2027-03-10']);
  expect(sold(stripe, [first, added, renewal], products)).toEqual(both);
  expect(sold(stripe, [first, renewal, added], products)).toEqual(both);
});

test.for([
  ['price_c', 'price_d'],
  ['price_d', 'price_c'],
])(
  'of a price that is changed and one that is added in one call, the changed one keeps the license: %s',
  ([changed, added]) => {
    const products = { price_a: 'solo', [changed!]: 'team', [added!]: 'extra' };
    const first = startOf({ ...line('price_a', JANUARY), item: 'si_1' });
    const change = changeOf(
      { ...credit('price_a'), item: 'si_1' },
      { ...left(changed!), item: 'si_1' },
      { ...left(added!), item: 'si_2' },
    );
    expect(sold(stripe, [first, change], products)).toEqual([
      'team ×1 to 2027-02-10, extra ×1 to 2027-02-10',
    ]);
  },
);
