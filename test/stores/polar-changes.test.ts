import { expect, test } from 'vitest';
import { polar } from '../../src/stores/provider/polar.ts';
import * as polars from './bodies/polar.ts';
import { CHANGED, LATER, NEXT, NEXT_YEAR, PLANS, sold, START } from './decided.ts';

// A subscription of Polar's that is changed within its period, in each of the ways in which Polar bills it.

const polarOrder = (
  id: string,
  createdAt: string,
  period: [start: string, end: string],
  more: Partial<polars.PolarOrder> & { seatCount?: number },
) => {
  const subscription = polars.subscription({
    id: 'sub-1',
    start: period[0],
    end: period[1],
    seats: more.seatCount ?? 1,
  });
  const order = polars.order({ id, createdAt, product: 'solo', ...more, subscription });
  return { body: polars.event('order.paid', order) };
};

const polarFirst = polarOrder('o1', START, [START, NEXT], {
  reason: 'subscription_create',
  items: [{ price: 'price-solo', amount: 1_000 }],
});

test('of Polar, a plan or seats that are billed at once change the license and not its end', () => {
  const upgrade = polarOrder('o2', CHANGED, [START, NEXT], {
    reason: 'subscription_update',
    product: 'team',
    seatCount: 5,
    items: [
      { price: 'price-solo', amount: -600, isChange: true },
      { price: 'price-team', amount: 3_000, isChange: true },
    ],
  });
  expect(sold(polar, [polarFirst, upgrade], PLANS)).toEqual(['team ×5 to 2027-02-10']);
  const ofPrices = { 'price-solo': 'solo', 'price-team': 'team' };
  expect(sold(polar, [polarFirst, upgrade], ofPrices)).toEqual(['team ×5 to 2027-02-10']);
});

test('of Polar, a downgrade is a credit at once, or waits for its renewal if it is scheduled', () => {
  const credit = polarOrder('o2', CHANGED, [START, NEXT], {
    reason: 'subscription_update',
    product: 'solo',
    total: -900,
    items: [
      { price: 'price-team', amount: -1_500, isChange: true },
      { price: 'price-solo', amount: 600, isChange: true },
    ],
  });
  const first = polarOrder('o1', START, [START, NEXT], {
    product: 'team',
    seatCount: 5,
    items: [{ price: 'price-team', amount: 3_000 }],
  });
  expect(sold(polar, [first, credit], PLANS)).toEqual(['solo ×1 to 2027-02-10']);
  const scheduled = {
    ...polars.fullSubscription({ id: 'sub-1', start: START, end: NEXT, seats: 5 }),
    pending_update: { applies_at: NEXT, product_id: 'solo', seats: null },
  };
  const planned = { body: polars.event('subscription.updated', scheduled) };
  expect(sold(polar, [first, planned], PLANS)).toEqual(['team ×5 to 2027-02-10']);
  const renewal = polarOrder('o3', NEXT, [NEXT, LATER], {
    reason: 'subscription_cycle',
    items: [{ price: 'price-solo', amount: 1_000 }],
  });
  expect(sold(polar, [first, planned, renewal], PLANS)).toEqual(['solo ×1 to 2027-03-10']);
});

test('of Polar, a renewal that also bills a change of the period before is for the new plan', () => {
  const renewal = polarOrder('o2', NEXT, [NEXT, LATER], {
    reason: 'subscription_cycle',
    product: 'team',
    items: [
      { price: 'price-solo', amount: -600, isChange: true },
      { price: 'price-team', amount: 1_800, isChange: true },
      { price: 'price-team', amount: 3_000 },
    ],
  });
  const ofPrices = { 'price-solo': 'solo', 'price-team': 'team' };
  expect(sold(polar, [polarFirst, renewal], ofPrices)).toEqual(['team ×1 to 2027-03-10']);
});

test('of Polar, a change to a year is for a year, also if only the list has it', () => {
  const yearly = polarOrder('o2', CHANGED, [CHANGED, NEXT_YEAR], {
    reason: 'subscription_update',
    product: 'team',
  });
  expect(sold(polar, [polarFirst, yearly], PLANS)).toEqual(['team ×1 to 2028-01-20']);
  const listed = { body: { ...yearly.body, type: 'order.updated' } };
  expect(sold(polar, [polarFirst, listed], PLANS)).toEqual(['team ×1 to 2028-01-20']);
});

test('a change from a year to a month has the new plan at once, and takes no paid day away', () => {
  const year = polarOrder('o1', START, [START, NEXT_YEAR], { reason: 'subscription_create' });
  const month = polarOrder('o2', CHANGED, [CHANGED, '2027-02-20T12:00:00Z'], {
    reason: 'subscription_update',
    product: 'team',
    seatCount: 3,
  });
  expect(sold(polar, [year, month], PLANS)).toEqual(['team ×3 to 2028-01-20']);
});
