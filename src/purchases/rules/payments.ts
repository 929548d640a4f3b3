import { isoDate } from '../../shared/rules/dates.ts';
import type { Disputed, Paid, PurchaseLine, Refunded, Renews, StoreFact, Thing } from './facts.ts';
import { linesIn, linesOf, subscriptionOf, withSubscriptions } from './lines.ts';

// The payments of a purchase, as its facts tell them: what each has paid for, how long it covers, and whether it still counts.

/** A fact and when it was first taken. */
export interface KnownFact {
  fact: StoreFact;
  takenAtMs: number;
}

type Day = string | null | undefined;

export interface Payment {
  name: string;
  names: ReadonlySet<Thing>;
  atMs: number;
  /** When what it pays for begins, as the store tells. Null if it tells no times. */
  fromMs: number | null;
  amount: number | null;
  /** The last day that any of it covers. Null if it is for no period, and undefined if that is not known yet. */
  through: Day;
  /** The last day that it covers of a line, which has the subscription of it. */
  throughOf: (line: PurchaseLine) => Day;
  /** Null if it is for none, or for several. */
  subscription: Thing | null;
  lines: PurchaseLine[] | null;
  /** Whether the lines are the difference to the payment before. */
  areChanges: boolean;
  /** The first id of each line that it was for, if that may be fewer than `lines`. */
  billed: ReadonlySet<string> | null;
  /** Whether it takes back that its subscription has ended before. */
  takesBackEnd: boolean;
  /** Neither given back in full nor lost in a dispute. */
  isLive: boolean;
}

export const ofKind = <Kind extends StoreFact['kind']>(facts: KnownFact[], kind: Kind) =>
  facts.filter(
    (known): known is { fact: Extract<StoreFact, { kind: Kind }>; takenAtMs: number } =>
      known.fact.kind === kind,
  );

/** Groups names that belong to one payment. */
const groupNames = (groups: Thing[][]): Set<Thing>[] => {
  let joined: Set<Thing>[] = [];
  for (const names of groups) {
    const touching = joined.filter((group) => names.some((name) => group.has(name)));
    const merged = new Set([...touching.flatMap((group) => [...group]), ...names]);
    joined = [...joined.filter((group) => !touching.includes(group)), merged];
  }
  return joined;
};

/** The renewals on the day to which a payment pays. */
const renewalsOf = ({ covers }: Paid, renewals: Renews[]): Renews[] => {
  if (!covers) return [];
  const later =
    'untilMs' in covers ? [covers] : renewals.filter(({ untilMs }) => untilMs > covers.renewalAfterMs);
  if (later.length === 0) return [];
  const day = isoDate(Math.min(...later.map(({ untilMs }) => untilMs)));
  return renewals.filter(({ untilMs }) => isoDate(untilMs) === day);
};

/** Of each subscription, its first renewal after a payment that says what is renewed. A later one may be for something else. */
const firstRenewals = (told: Paid[], renewals: Renews[]): Renews[] => {
  const named = renewals.filter(({ lines }) => lines !== undefined);
  const bySubscription = [...Map.groupBy(named, ({ about }) => about).values()];
  return bySubscription.flatMap((own) => told.flatMap((fact) => renewalsOf(fact, own)));
};

const throughOf = (fact: Paid, renewals: Renews[]): Day => {
  const { covers } = fact;
  if (!covers) return null;
  if ('untilMs' in covers) return isoDate(covers.untilMs);
  const [renewal] = renewalsOf(fact, renewals);
  return renewal ? isoDate(renewal.untilMs) : covers.orNone ? null : undefined;
};

const earliest = (times: (number | null)[]): number | null => {
  const known = times.filter((ms) => ms !== null);
  return known.length === 0 ? null : Math.min(...known);
};

const latest = (days: Day[]): Day =>
  days
    .filter((day) => typeof day === 'string')
    .toSorted()
    .at(-1) ?? (days.includes(undefined) ? undefined : null);

/** What was given back of a payment: its own running sum, or the sum of single refunds. Infinite if that was everything. */
const sumOf = (refunds: Refunded[], names: ReadonlySet<Thing>): number => {
  if (refunds.some(({ amount }) => amount === null)) return Infinity;
  const isRunning = ({ about }: Refunded) => names.has(about);
  const running = refunds.filter(isRunning).map(({ amount }) => amount ?? 0);
  const single = refunds.filter((refund) => !isRunning(refund)).map(({ amount }) => amount ?? 0);
  return Math.max(
    0,
    ...running,
    single.reduce((sum, amount) => sum + amount, 0),
  );
};

/** Sums of decimals, such as 14.950000000000001, differ in digits that no amount has. */
const withoutNoise = (sum: number): number => Number(sum.toPrecision(12));

/** Whether a sum is all of what was paid. If that is unknown, any sum is, because nothing shows that it is only a part. */
const isAll = (sum: number, paid: number | null): boolean =>
  sum > 0 && (paid === null || withoutNoise(sum) >= withoutNoise(paid));

const isOf = (names: ReadonlySet<Thing>) => {
  return ({ of }: { of: Thing | 'all' }): boolean => of !== 'all' && names.has(of);
};

/** Returns what was paid at least, or null if no amount is known. */
const totalOf = (amounts: (number | null)[]): number | null => {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === 0 ? null : known.reduce((sum, amount) => sum + amount, 0);
};

const isLost = ({ state }: Disputed) => state === 'lost';

const byEnd = (a: Payment, b: Payment): number =>
  (a.through ?? '').localeCompare(b.through ?? '') || a.atMs - b.atMs || (a.name < b.name ? -1 : 1);

const firstRefs = (lines: PurchaseLine[]) => new Set(lines.flatMap(({ refs }) => refs.slice(0, 1)));

/** A change can be to a shorter period, which ends before the one that it replaces. */
const byBeginning = (a: Payment, b: Payment): number => (a.fromMs ?? 0) - (b.fromMs ?? 0) || byEnd(a, b);

const begin = ({ covers, atMs }: Paid): number | null =>
  (covers && 'untilMs' in covers ? covers.fromMs : undefined) ?? atMs ?? null;

/** Returns the payments of a purchase, in an order that doesn't depend on that of the facts. */
export const paymentsOf = (facts: KnownFact[]): Payment[] => {
  const paid = ofKind(facts, 'paid');
  const joined = ofKind(facts, 'joined').map(({ fact }) => [fact.about, ...fact.as]);
  const groups = groupNames([...paid.map(({ fact }) => [fact.about, ...(fact.as ?? [])]), ...joined]);
  const renewals = ofKind(facts, 'renews')
    .map(({ fact }) => fact)
    .toSorted((a, b) => a.untilMs - b.untilMs || (a.about < b.about ? -1 : 1));
  const refunds = ofKind(facts, 'refunded').map(({ fact }) => fact);
  const lost = ofKind(facts, 'disputed')
    .map(({ fact }) => fact)
    .filter(isLost);
  const known = groups.flatMap((names) => {
    const own = paid
      .filter(({ fact }) => names.has(fact.about))
      .toSorted((a, b) => (a.fact.about < b.fact.about ? -1 : 1));
    if (own.length === 0) return [];
    const told = own.map(({ fact }) => fact);
    const amounts = own.flatMap(({ fact }) => fact.amount ?? []);
    const subscription = subscriptionOf(told);
    const ownOf = (owner: Thing | null | undefined) =>
      owner ? renewals.filter((renewal) => renewal.about === owner) : renewals;
    const through = (of: Renews[]) => latest(told.map((fact) => throughOf(fact, of)));
    const ofPeriod = told.flatMap((fact) => renewalsOf(fact, ownOf(subscription)));
    const lines = linesOf(told.flatMap(linesIn)) ?? linesOf(ofPeriod.flatMap(linesIn).slice(0, 1));
    const areChanges = told.some((fact) => fact.areChanges === true);
    const billed = told.flatMap((fact) => fact.billed ?? []);
    return {
      name: own[0]?.fact.about ?? '',
      names,
      atMs: Math.min(...own.map(({ fact, takenAtMs }) => fact.atMs ?? takenAtMs)),
      fromMs: earliest(told.map(begin)),
      amount: amounts.length === 0 ? null : Math.max(...amounts),
      through: through(ownOf(subscription)),
      throughOf: (line: PurchaseLine) =>
        line.untilMs === undefined ? through(ownOf(line.subscription)) : isoDate(line.untilMs),
      subscription,
      lines: lines && withSubscriptions(lines, subscription, firstRenewals(told, renewals)),
      areChanges,
      billed: areChanges ? firstRefs(lines ?? []) : billed.length > 0 ? new Set(billed) : null,
      takesBackEnd: told.some((fact) => fact.takesBackEnd === true),
    };
  });
  const ofAll = refunds.filter(({ of }) => of === 'all');
  const isAllRefunded = isAll(
    sumOf(ofAll, new Set(ofAll.map(({ about }) => about))),
    totalOf(known.map(({ amount }) => amount)),
  );
  const isAllLost = lost.some(({ of }) => of === 'all');
  return known
    .map((payment): Payment => {
      const own = sumOf(refunds.filter(isOf(payment.names)), payment.names);
      const isGivenBack = isAllRefunded || isAll(own, payment.amount);
      return { ...payment, isLive: !isGivenBack && !isAllLost && !lost.some(isOf(payment.names)) };
    })
    .toSorted(known.every(({ fromMs }) => fromMs !== null) ? byBeginning : byEnd);
};
