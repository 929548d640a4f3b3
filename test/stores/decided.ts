import { decidePurchase } from '../../src/purchases/rules/decide.ts';
import { factName, replaces, type StoreFact } from '../../src/purchases/rules/facts.ts';
import { groupFacts } from '../../src/purchases/take.ts';
import type { SoldOffer } from '../../src/shared/rules/sold-offer.ts';
import type { StoreProvider } from '../../src/stores/provider/provider.ts';
import { factsOf } from './module.ts';

// What the purchases are that follow from what a store sends, without the rest of the service.

export const SUBSCRIPTION: SoldOffer = {
  product: 'orrery',
  grant: 'subscription',
  days: null,
  quantity: 'licenses',
  terms: {},
  graceDays: 7,
  onRefund: 'revoke',
  onDispute: 'suspend',
  mail: true,
};

/** A subscription to one of two plans, which is changed within its first month. */
export const START = '2027-01-10T12:00:00Z';
export const CHANGED = '2027-01-20T12:00:00Z';
export const NEXT = '2027-02-10T12:00:00Z';
export const LATER = '2027-03-10T12:00:00Z';
export const NEXT_YEAR = '2028-01-20T12:00:00Z';
export const PLANS = { solo: 'solo', team: 'team' };

/** Takes facts as the service does: each once by its name, unless a newer version of it comes. */
export const openFacts = () => {
  const facts = new Map<string, StoreFact>();
  const take = (fact: StoreFact) => {
    const known = facts.get(factName(fact));
    if (!known || replaces(fact, known)) facts.set(factName(fact), fact);
  };
  return { facts, take };
};

/** The ids of a store and the products that they mean. */
type Products = Record<string, string>;

/** Returns each purchase in short, as in `solo ×1 to 2027-02-10`, with its reason if there is one. */
export const purchasesOf = (sent: StoreFact[], products: Products): string[] => {
  const { facts, take } = openFacts();
  sent.forEach(take);
  const offers = new Map(
    Object.entries(products).map(([ref, product]): [string, SoldOffer] => [
      ref,
      { ...SUBSCRIPTION, ref, product, quantity: 'seats' },
    ]),
  );
  return groupFacts([...facts.values()].filter(({ kind }) => kind !== 'buyer')).map((group) => {
    const { slots, reason } = decidePurchase({
      facts: group.map((fact) => ({ fact, takenAtMs: 0 })),
      offers,
      earlier: new Map(),
      assigned: null,
      acceptsTest: false,
    });
    const licenses = slots.map(
      ({ wanted: { product, seats, expiresAt, status } }) =>
        `${status === 'active' ? '' : `${status} `}${product} ×${seats} to ${expiresAt}`,
    );
    return [...licenses, ...(reason === null ? [] : [reason])].join(', ');
  });
};

interface Sent {
  body: object;
  topic?: string;
}

/** Returns the purchases of what a store has sent, which are the same in whatever order it comes. */
export const sold = (provider: StoreProvider, sent: Sent[], products: Products, asked: StoreFact[] = []) => {
  const facts = [...sent.flatMap(({ body, topic }) => factsOf(provider, body, topic ?? null)), ...asked];
  const purchases = purchasesOf(facts, products);
  const backwards = purchasesOf(facts.toReversed(), products);
  return JSON.stringify(purchases.toSorted()) === JSON.stringify(backwards.toSorted())
    ? purchases
    : [...purchases, 'but backwards', ...backwards];
};
