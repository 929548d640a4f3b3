import type { Paid, PurchaseLine, Renews, Thing } from './facts.ts';

// What a payment is for, and of which of a purchase's subscriptions that is.

export const linesIn = ({ lines }: Paid | Renews): PurchaseLine[][] => (lines ? [lines] : []);

/** What the facts of one payment say that it is for. Where each names one thing, that thing has the ids of all. */
export const linesOf = (named: PurchaseLine[][]): PurchaseLine[] | null => {
  const [first] = named;
  if (!first) return null;
  if (named.some(({ length }) => length !== 1))
    return named.toSorted((a, b) => b.length - a.length)[0] ?? null;
  const refs = [...new Set(named.flat().flatMap((line) => line.refs))];
  return [{ ...first[0], refs, quantity: Math.max(...named.flat().map(({ quantity }) => quantity)) }];
};

export const isSubscription = (thing: Thing): boolean => thing.startsWith('subscription/');

/** Returns the subscription that a payment names, or null if it names none or several. */
export const subscriptionOf = (told: Paid[]): Thing | null => {
  const named = new Set(told.flatMap((fact) => fact.with ?? []).filter(isSubscription));
  const [only = null] = named;
  return named.size === 1 ? only : null;
};

/** Says of each line which subscription it is of: its own, the payment's, or the only one that is for the same thing. */
export const withSubscriptions = (
  lines: PurchaseLine[],
  subscription: Thing | null,
  renewals: Renews[],
): PurchaseLine[] =>
  lines.map((line) => {
    const isFor = (other: PurchaseLine) => other.refs[0] !== undefined && other.refs[0] === line.refs[0];
    const owners = new Set(renewals.filter((one) => one.lines?.some(isFor)).map(({ about }) => about));
    const [only] = owners.size === 1 ? owners : [];
    const own = line.subscription ?? subscription ?? only;
    return own === undefined ? line : { ...line, subscription: own };
  });
