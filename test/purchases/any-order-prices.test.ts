import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decidePurchase } from '../../src/purchases/rules/decide.ts';
import type { PurchaseLine, StoreFact } from '../../src/purchases/rules/facts.ts';
import type { SoldOffer } from '../../src/shared/rules/sold-offer.ts';
import { SUBSCRIPTION } from '../stores/decided.ts';

// A subscription with several prices, of which some are changed and others are added within a period, in any order of its payments.

const REFS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const offers = new Map(REFS.map((ref): [string, SoldOffer] => [ref, { ...SUBSCRIPTION, ref, product: ref }]));

type Step = { kind: 'change'; which: number } | { kind: 'add' | 'renew' };
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('change' as const), which: fc.nat(5) }),
    fc.record({ kind: fc.constantFrom('add' as const, 'renew' as const) }),
  ),
  { maxLength: 5 },
);

const day = (month: number, date: number) => Date.UTC(2027, month, date);

/** Returns the payments, and what each license is for after them. */
const historyOf = (taken: Step[], refs: string[]) => {
  const names = refs.values();
  const next = () => names.next().value!;
  const current = [next(), next()];
  const paidTo = new Map<string, number>();
  const facts: StoreFact[] = [];
  let month = 0;
  const pay = (date: number, lines: PurchaseLine[]) => {
    const covers = { fromMs: day(month, date), untilMs: day(month + 1, 1) };
    const about = `invoice/${facts.length}` as const;
    facts.push({ kind: 'paid', about, with: ['subscription/1'], atMs: covers.fromMs, lines, covers });
    for (const { refs: paid } of lines) paidTo.set(paid[0]!, month + 1);
  };
  const payAll = () =>
    pay(
      1,
      current.map((ref) => ({ refs: [ref], quantity: 1 })),
    );
  payAll();
  for (const [i, step] of taken.entries()) {
    if (step.kind === 'renew') {
      month++;
      payAll();
      continue;
    }
    const ref = next();
    const at = step.kind === 'change' ? step.which % current.length : current.length;
    const instead = current.slice(at, at + 1);
    current[at] = ref;
    pay(10 + i, [{ refs: [ref], quantity: 1, instead }]);
  }
  const until = (ref: string) => new Date(day(paidTo.get(ref)!, 1)).toISOString().slice(0, 10);
  return { facts, licenses: current.map((ref) => `${ref} to ${until(ref)}`) };
};

/** Returns what the licenses are for that are made while the facts arrive. */
const licensesAfter = (facts: StoreFact[]): string[] => {
  const held = new Map<number, { offer: SoldOffer; is: string }>();
  for (const count of facts.keys()) {
    const { slots } = decidePurchase({
      facts: facts.slice(0, count + 1).map((fact) => ({ fact, takenAtMs: 0 })),
      offers,
      earlier: new Map([...held].map(([slot, { offer }]) => [slot, offer])),
      assigned: null,
      acceptsTest: false,
    });
    for (const { slot, offer, wanted } of slots)
      held.set(slot, { offer, is: `${wanted.product} to ${wanted.expiresAt}` });
  }
  return [...held.values()].map(({ is }) => is);
};

test('each license follows its own price, whatever the prices are called, and in whatever order they were told', () => {
  const names = fc.shuffledSubarray(REFS, { minLength: REFS.length });
  const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 });
  fc.assert(
    fc.property(steps, names, order, (taken, refs, places) => {
      const { facts, licenses } = historyOf(taken, refs);
      const made = licensesAfter(facts);
      const firstTwo = [licenses.slice(0, 2), licenses.slice(0, 2).toReversed()];
      expect(firstTwo).toContainEqual(made.slice(0, 2));
      expect(made.slice(2)).toEqual(licenses.slice(2));
      const shuffled = places.flatMap((place) => facts[place] ?? []);
      expect(licensesAfter(shuffled).toSorted()).toEqual(licenses.toSorted());
    }),
    { numRuns: 1_000 },
  );
});
