// What a store's notifications say, in words that no provider has. A purchase is what its facts are about: those that name a
// thing in common, directly or by other facts, belong together.

/** A thing of the store by its kind and the store's own id, such as `order/123`, `invoice/in_1`, or `subscription/sub_1`. */
export type Thing = `${string}/${string}`;

/** Who bought. The store may name its customer first and tell the address later, in a fact of kind `buyer`. */
export interface Buyer {
  email?: string;
  name?: string;
  /** The store's customer. It is no thing: two purchases of one customer are two. */
  ref?: Thing;
}

/** What was bought: ids that an offer can be for, the narrowest first (price or variant, then product). */
export interface PurchaseLine {
  /** Empty if it is what an earlier payment was for, as in a renewal that says only how many. */
  refs: string[];
  quantity: number;
  /** What it may take the place of, by ids as in `refs`, of a store that says so. None if it was added. */
  instead?: string[];
  /** Its own subscription, in a payment for several. */
  subscription?: Thing;
  /** The end of its own period, in a payment that covers other lines longer. */
  untilMs?: number;
}

/** What an order or a subscription is for. */
interface OrderDetails {
  buyer?: Buyer;
  /** The number that the store shows people. */
  number?: string;
  lines?: PurchaseLine[];
}

interface About {
  about: Thing;
  /** Other things of the same purchase. */
  with?: Thing[];
  /** When it happened at the store. Without it, the time when the fact was first taken counts. */
  atMs?: number;
  /** Of two facts with one name, the greater version counts: a running sum, or when the store last changed the thing. */
  version?: number;
  /** Of the store's test mode. */
  isTest?: true;
}

/** An order or a subscription that is not known to be paid. */
export interface Ordered extends About, OrderDetails {
  kind: 'ordered';
}

/** Money has arrived, for an order, an invoice, or a charge. */
export interface Paid extends About, OrderDetails {
  kind: 'paid';
  /** Other names of this payment: a charge and its invoice, by either of which a refund may name it. */
  as?: Thing[];
  /** In the store's own unit, which its refunds have, too. It may be a decimal. */
  amount?: number;
  currency?: string;
  /**
   * What the payment covers: to the end of a period, which begins with the payment unless it says `fromMs`, or to the first renewal
   * after a time, which a fact `renews` tells. Without it, the payment is for no period. `orNone` is of a store whose orders don't
   * say whether a subscription began with them: while no renewal is known, such a payment is for no period either.
   */
  covers?: { untilMs: number; fromMs?: number } | { renewalAfterMs: number; orNone?: true };
  /** `lines` say what was added to the payment before, and taken away: of a store that bills only the difference. */
  areChanges?: true;
  /** The first id of each line that was billed, for a store that bills only a change and reports elsewhere all that is paid. */
  billed?: string[];
  /** Of a store where a subscription that has ended can begin anew: an end that came before is none. */
  takesBackEnd?: true;
}

/** Two names of one payment, for a store whose payments and invoices don't name each other. */
export interface Joined extends About {
  kind: 'joined';
  as: Thing[];
}

/** Things that belong to one purchase, and nothing else. */
export interface Linked extends About {
  kind: 'linked';
}

/** A date at which a subscription is to be renewed. */
export interface Renews extends About {
  kind: 'renews';
  untilMs: number;
  /** What was paid for until then, of a store whose payments don't say it, or not what of them is renewed. */
  lines?: PurchaseLine[];
}

/** Money was given back: a single refund, or the running sum of what it is about. */
export interface Refunded extends About {
  kind: 'refunded';
  /** The payment by one of its names, or `all` of the purchase. */
  of: Thing | 'all';
  /** Null for everything. Zero if it was taken back: see `version`. */
  amount: number | null;
}

/** Which of the states of a dispute counts, whatever order they arrive in. */
export const DISPUTE_VERSIONS = { open: 1, won: 2, lost: 3 } as const;

/** `version` is that of the state, unless the store tells a better one. */
export interface Disputed extends About {
  kind: 'disputed';
  of: Thing | 'all';
  state: keyof typeof DISPUTE_VERSIONS;
}

/** A payment is overdue. Its own payment cures it; for a subscription, whatever covers a day after this one. */
export interface PastDue extends About {
  kind: 'past_due';
  /** The end of what was to be paid, of a store whose payments have no times: whatever covers as much cures it. */
  untilMs?: number;
}

/** A subscription is over, and won't be renewed anymore. One that was merely canceled goes on to the end of its period. */
export interface Ended extends About {
  kind: 'ended';
}

/** The address of one of the store's customers, in `about`. It belongs to no purchase. */
export interface BuyerKnown extends About {
  kind: 'buyer';
  email: string;
  name?: string;
}

export type StoreFact =
  | Ordered
  | Paid
  | Joined
  | Linked
  | Renews
  | Refunded
  | Disputed
  | PastDue
  | Ended
  | BuyerKnown;

/** Returns the name of a fact, which is taken once. It follows from the thing and never from the notification. */
export const factName = (fact: StoreFact): string => {
  const name = `${fact.about} ${fact.kind}`;
  if (fact.kind === 'joined') return [name, ...fact.as.toSorted()].join(' ');
  if (fact.kind === 'linked') return [name, ...(fact.with ?? []).toSorted()].join(' ');
  return fact.kind === 'renews' ? `${name} ${fact.untilMs}` : name;
};

const namesOf = (fact: StoreFact): Thing[] => ('as' in fact ? (fact.as ?? []) : []);

/** Returns the things by which a fact finds its purchase. */
export const thingsOf = (fact: StoreFact): Thing[] => {
  if (fact.kind === 'buyer') return [];
  const of = 'of' in fact && fact.of !== 'all' ? [fact.of] : [];
  return [...new Set([fact.about, ...(fact.with ?? []), ...namesOf(fact), ...of])];
};

const versionOf = (fact: StoreFact): number =>
  fact.version ?? (fact.kind === 'disputed' ? DISPUTE_VERSIONS[fact.state] : 0);

/** Writes a value with its fields in order, so that equal values are equal texts. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Whether a fact replaces another one of its name, whichever of them came first. */
export const replaces = (fact: StoreFact, known: StoreFact): boolean => {
  const newer = versionOf(fact) - versionOf(known);
  return newer === 0 ? canonical(fact) > canonical(known) : newer > 0;
};
