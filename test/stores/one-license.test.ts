import fc from 'fast-check';
import { expect, test } from 'vitest';
import { factName, replaces, type StoreFact, thingsOf } from '../../src/purchases/rules/facts.ts';
import type { StoreProviderName } from '../../src/shared/rules/stores.ts';
import { PROVIDERS } from '../../src/stores/provider/providers.ts';
import { decide, history } from './worlds/subscription.ts';
import { possible } from './worlds/world.ts';
import { WORLDS } from './worlds/worlds.ts';

// A purchase gets its license as soon as its facts say so. If what connects two of its payments came only then, each of them would
// have got one.

const RUNS = 500;

interface Purchase {
  facts: Map<string, StoreFact>;
  licenses: number;
}

const isGiven = (facts: Iterable<StoreFact>) => {
  const { isGiving, slots } = decide(facts, 0);
  return isGiving && slots.some(({ wanted }) => wanted.status === 'active');
};

/** Takes facts into purchases as they come, and gives each its license as soon as there is something to give. */
const openPurchases = () => {
  let purchases: Purchase[] = [];
  const take = (told: StoreFact[]) => {
    for (const fact of told) {
      const things = thingsOf(fact);
      if (things.length === 0) continue;
      const isOf = ({ facts }: Purchase) =>
        [...facts.values()].some((known) => thingsOf(known).some((thing) => things.includes(thing)));
      const touched = purchases.filter(isOf);
      const facts = new Map(touched.flatMap((one) => [...one.facts]));
      const known = facts.get(factName(fact));
      if (!known || replaces(fact, known)) facts.set(factName(fact), fact);
      const licenses = touched.reduce((sum, one) => sum + one.licenses, 0);
      purchases = [...purchases.filter((one) => !touched.includes(one)), { facts, licenses }];
    }
    // The facts of a body are taken together.
    for (const purchase of purchases)
      if (purchase.licenses === 0 && isGiven(purchase.facts.values())) purchase.licenses = 1;
  };
  return { take, purchases: () => purchases };
};

test.for(Object.keys(WORLDS) as StoreProviderName[])(
  'in no order does a purchase at %s get two licenses',
  async (name) => {
    const provider = PROVIDERS[name];
    const order = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 40, maxLength: 40 });
    const property = fc.asyncProperty(history, order, async (wanted, places) => {
      const sent = {
        ...wanted,
        ...(wanted.refund === 'second' && !wanted.isRenewed && { refund: 'none' as const }),
      };
      const world = WORLDS[name].world(sent);
      const past = possible(sent, world);
      const { take, purchases } = openPurchases();
      const notices = world.notices.map((notice, i) => ({
        notice,
        place: places[i % places.length] ?? 0,
        i,
      }));
      for (const { notice } of notices.toSorted((a, b) => a.place - b.place)) {
        const text = typeof notice.body === 'string' ? notice.body : JSON.stringify(notice.body);
        const reading = provider.read({ body: text, topic: notice.topic ?? null });
        take([...(reading.kind === 'facts' ? reading.facts : []), ...((await notice.told?.()) ?? [])]);
      }
      expect({ past, purchases: purchases().map(({ licenses }) => licenses) }).toMatchObject({
        purchases: [expect.toSatisfy((licenses: number) => licenses <= 1)],
      });
    });
    await fc.assert(property, { seed: 20_270_110, numRuns: RUNS });
  },
);
