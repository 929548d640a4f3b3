import fc from 'fast-check';
import { decidePurchase } from '../../../src/purchases/rules/decide.ts';
import type { StoreFact } from '../../../src/purchases/rules/facts.ts';
import { SUBSCRIPTION } from '../decided.ts';
import type { StoreHistory } from './world.ts';
import { WORLDS } from './worlds.ts';

// What any subscription of the worlds can go through, and what the service makes of its facts.

const OFFERS = new Map(Object.values(WORLDS).map(({ ref }) => [ref, SUBSCRIPTION]));

/** Returns what a purchase of these facts is. */
export const decide = (facts: Iterable<StoreFact>, takenAtMs: number) => {
  const known = [...facts].map((fact) => ({ fact, takenAtMs }));
  return decidePurchase({
    facts: known,
    offers: OFFERS,
    earlier: new Map(),
    assigned: null,
    acceptsTest: false,
  });
};

export const history = fc.record<StoreHistory>({
  isRenewed: fc.boolean(),
  refund: fc.constantFrom('none', 'part', 'first', 'second'),
  isPastDue: fc.boolean(),
  isOver: fc.boolean(),
  restart: fc.constantFrom(undefined, 'restarted', 'over again'),
  dispute: fc.constantFrom('none', 'open', 'won'),
});
