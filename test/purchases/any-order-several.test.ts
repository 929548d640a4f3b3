import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decidePurchase } from '../../src/purchases/rules/decide.ts';
import { openFacts, SUBSCRIPTION } from '../stores/decided.ts';
import { factsOf } from '../stores/module.ts';
import { expectedOfTwo, TWO_WORLDS, type TwoHistory } from '../stores/worlds/two-subscriptions.ts';

// As `any-order.test.ts`, for a purchase of two subscriptions: each license follows its own, whatever comes in whatever order.

const history = fc.record<TwoHistory>({
  renewal: fc.constantFrom('none', 'paid', 'refunded', 'failed', 'failed and paid'),
  isMonthOver: fc.boolean(),
  isYearOver: fc.boolean(),
});

test.for(Object.keys(TWO_WORLDS) as (keyof typeof TWO_WORLDS)[])(
  'of two subscriptions in one order of %s, each license is paid, grows old, and ends by its own',
  (name) => {
    const world = TWO_WORLDS[name];
    const offers = new Map(
      Object.entries(world.refs).map(([product, ref]) => [ref, { ...SUBSCRIPTION, ref, product }]),
    );
    const places = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 30, maxLength: 30 });
    fc.assert(
      fc.property(history, places, fc.integer({ min: 0, max: 1_000_000 }), (past, order, takenAtMs) => {
        const { facts, take } = openFacts();
        world
          .notices(past)
          .flatMap((notice, i) => [0, 1].map((copy) => ({ notice, place: order[i * 2 + copy]! })))
          .toSorted((a, b) => a.place - b.place)
          .flatMap(({ notice }) => factsOf(world.provider, notice.body, notice.topic ?? null))
          .forEach(take);
        const known = [...facts.values()].map((fact) => ({ fact, takenAtMs }));
        const books = { facts: known, offers, earlier: new Map(), assigned: null, acceptsTest: false };
        const { status, reason, slots } = decidePurchase(books);
        const licenses = slots.map(({ wanted }) => [wanted.product, [wanted.expiresAt, wanted.graceDays]]);
        expect({ status, reason, ...Object.fromEntries(licenses) }).toEqual({
          ...expectedOfTwo(past, world),
          reason: null,
        });
      }),
      { seed: 20_270_110, numRuns: 1_000 },
    );
  },
);
