// What customers buy at stores of all eight providers, and what these send about it: the recorded bodies, in which each purchase
// has ids and an address of its own.
import { STORE_PROVIDERS, type StoreProviderName } from '../../../src/shared/rules/stores.ts';
import { expectedOf, possible, type StoreHistory } from '../../stores/worlds/world.ts';
import { WORLDS } from '../../stores/worlds/worlds.ts';

export interface Delivery {
  provider: StoreProviderName;
  body: string;
  topic: string;
}

export interface ExpectedPurchase {
  status: 'fulfilled' | 'disputed' | 'refunded';
  license: { status: string; expiresAt: string };
}

export interface Purchase {
  provider: StoreProviderName;
  email: string;
  expected: ExpectedPurchase;
  deliveries: Delivery[];
  /** What the provider's API answers, by path. */
  answers: Map<string, string>;
}

const PLAIN: StoreHistory = {
  isRenewed: false,
  refund: 'none',
  isPastDue: false,
  isOver: false,
  dispute: 'none',
};

/** What becomes of twenty purchases. */
const HISTORIES: StoreHistory[] = [
  ...Array.from({ length: 15 }, () => PLAIN),
  { ...PLAIN, isRenewed: true },
  { ...PLAIN, isRenewed: true, refund: 'second' },
  { ...PLAIN, refund: 'first' },
  { ...PLAIN, dispute: 'won' },
  { ...PLAIN, dispute: 'open' },
];

/** The ids in the bodies of a provider that belong to one purchase. Digits that follow them make them another purchase's. */
const OWN_IDS: Record<StoreProviderName, RegExp> = {
  stripe: /\b(?:cs|in|sub|pi|ch|dp|cus)_\d\b/g,
  paddle: /\b(?:txn_0\d|sub_0\d|adj_0\d|ctm_\w+)\b/g,
  lemonsqueezy: /"(?:id|order_id|subscription_id)":"?\d\b/g,
  polar: /\b(?:sub|order)-\d\b/g,
  gumroad: /\b[sm]\d\b/g,
  fastspring: /\b(?:o|r|sub)\d\b|\bacctAbCdEfG123\b/g,
  woocommerce: /\b(?:727|801|900)\b/g,
  generic: /\bR-1\b/g,
};

const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const expectedBy = (history: StoreHistory): ExpectedPurchase => {
  const { status, expiresAt } = expectedOf(history);
  const statuses = { active: 'fulfilled', suspended: 'disputed', revoked: 'refunded' } as const;
  return { status: statuses[status], license: { status, expiresAt } };
};

const purchaseOf = (provider: StoreProviderName, number: number): Purchase => {
  const { world } = WORLDS[provider];
  const wanted = HISTORIES[number % HISTORIES.length] ?? PLAIN;
  const history = possible(wanted, world(wanted));
  const sent = world(history);
  const digits = String(number).padStart(5, '0');
  const buyer = `${provider}-${number}`;
  const own = (value: unknown) =>
    toText(value)
      .replace(OWN_IDS[provider], (id) => id + digits)
      .replace(/\bada(?=(?:@|%40)example\.com)/g, buyer);
  return {
    provider,
    email: `${buyer}@example.com`,
    expected: expectedBy(history),
    deliveries: sent.notices.map(({ body, topic = '' }) => ({ provider, body: own(body), topic })),
    answers: new Map(Object.entries(sent.answers).map(([path, answer]) => [own(path), own(answer)])),
  };
};

/** Of twenty purchases. Whoever tells a sale in one body sells more, so that the run is short. */
const SHARES: Record<StoreProviderName, number> = {
  stripe: 1,
  paddle: 1,
  lemonsqueezy: 1,
  polar: 1,
  gumroad: 3,
  fastspring: 6,
  woocommerce: 1,
  generic: 6,
};

/** Purchases of all providers in turn. */
export const makePurchases = (count: number): Purchase[] => {
  const inTurn = STORE_PROVIDERS.flatMap((provider) =>
    Array.from({ length: SHARES[provider] }, () => provider),
  );
  const made = new Map<StoreProviderName, number>();
  return Array.from({ length: count }, (_, i) => {
    const provider = inTurn[i % inTurn.length] ?? 'generic';
    const number = made.get(provider) ?? 0;
    made.set(provider, number + 1);
    return purchaseOf(provider, number);
  });
};

/** How many other purchases are made until the next that is told about one. */
const APART = 20;
const OUT_OF_ORDER = 0.3;
const SENT_AGAIN = 0.1;

/** Puts all deliveries into the order in which they are sent. Some purchases are told out of order, and some bodies are copies. */
export const toQueue = (purchases: Purchase[]): Delivery[] => {
  const placed = purchases.flatMap(({ deliveries }, i) => {
    const isInOrder = Math.random() > OUT_OF_ORDER;
    const spread = APART * deliveries.length;
    return deliveries.flatMap((delivery, step) => {
      const place = i + (isInOrder ? step * APART : Math.random() * spread);
      const again = Math.random() < SENT_AGAIN ? [{ delivery, place: i + Math.random() * 2 * spread }] : [];
      return [{ delivery, place }, ...again];
    });
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ delivery }) => delivery);
};
