import * as z from 'zod';
import type { PurchaseLine, StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { addMonths, DAY_MS, HOUR_MS } from '../../shared/rules/dates.ts';
import {
  account,
  accountRef,
  charge,
  contact,
  order,
  returned,
  springEvent,
  subscription,
} from './fastspring-objects.ts';
import { buyerOf, id, said, type StoreTold } from './parts.ts';

// What FastSpring's events say.

type Subscription = z.output<typeof subscription>;

/** In hundredths, which add up exactly. */
const toHundredths = (amount: number) => Math.round(amount * 100);

/** Marks what is told of an order that isn't live, which is a test. */
const marked = (told: StoreTold, live: boolean | null | undefined): StoreTold =>
  live === false ? { ...told, facts: told.facts.map((fact) => ({ ...fact, isTest: true as const })) } : told;

const nameOf = (person: z.output<typeof contact> | null | undefined) =>
  [person?.first, person?.last].filter((part) => part !== undefined).join(' ') || undefined;

const buyer = (owner: z.output<typeof accountRef>, person?: z.output<typeof contact> | null) => {
  const known = typeof owner === 'object' ? owner : null;
  const ref = typeof owner === 'string' ? owner : known?.id;
  return buyerOf(person?.email ?? known?.contact?.email, nameOf(person ?? known?.contact), ref);
};

const MONTHS: Record<string, number> = { month: 1, year: 12 };
const DAYS: Record<string, number> = { day: 1, week: 7 };

/** Returns the start of the period that a renewal ends: the renewal before it. */
const renewalBefore = ({ next, begin, intervalUnit, intervalLength }: Subscription): number | null => {
  if (!next || !begin) return null;
  const length = intervalLength ?? 1;
  const months = MONTHS[intervalUnit ?? ''];
  const days = DAYS[intervalUnit ?? ''];
  const ms =
    months !== undefined
      ? addMonths(next, -months * length)
      : days === undefined
        ? 0
        : next - days * length * DAY_MS;
  return ms > begin ? ms : null;
};

const linesOf = ({ product, quantity }: Pick<Subscription, 'product' | 'quantity'>) =>
  typeof product === 'string' ? { lines: [{ refs: [product], quantity: Math.max(1, quantity ?? 1) }] } : {};

/**
 * An end that is planned is the end of the last period, and nothing is due anymore. A change is paid with a later charge, so the
 * earliest copy says what the period was paid for.
 */
const renewalsOf = (sent: Subscription, version = sent.changed): StoreFact[] => {
  if (sent.state === 'overdue') return [];
  const about: Thing = `subscription/${sent.id}`;
  const before = renewalBefore(sent);
  const untilMs = sent.next ?? sent.end;
  const earliest = typeof version === 'number' ? { version: Number.MAX_SAFE_INTEGER - version } : {};
  return [
    ...(before === null ? [] : [{ kind: 'renews' as const, about, untilMs: before }]),
    ...(typeof untilMs === 'number'
      ? [{ kind: 'renews' as const, about, untilMs, ...earliest, ...linesOf(sent) }]
      : []),
  ];
};

const subscriptionFacts = (sent: Subscription, type: string, createdMs: number | undefined): StoreTold => {
  const about = { about: `subscription/${sent.id}` as Thing };
  const version = sent.changed ?? createdMs;
  const facts: StoreFact[] = [
    {
      kind: 'ordered',
      ...about,
      ...said({ version }),
      ...(sent.initialOrderId !== undefined && { with: [`order/${sent.initialOrderId}`] }),
      ...buyer(sent.account),
    },
    ...renewalsOf(sent, version),
  ];
  if (
    sent.state === 'overdue' ||
    type === 'subscription.payment.overdue' ||
    type === 'subscription.charge.failed'
  )
    facts.push({
      kind: 'past_due',
      ...about,
      ...said({ atMs: sent.next ?? version, version: sent.next ?? version }),
    });
  if (sent.state === 'deactivated' || type === 'subscription.deactivated')
    facts.push({ kind: 'ended', ...about });
  return { facts };
};

/** A rebill may be made a moment before its date, and no period is shorter than a day. */
const EARLY_MS = HOUR_MS;

type Item = z.output<typeof order>['items'][number];

const lineOf = ({ product, quantity }: Item) => ({ refs: [product], quantity: Math.max(1, quantity ?? 1) });

const ownerOf = ({ subscription: of }: Item): { subscription?: Thing } =>
  of ? { subscription: `subscription/${typeof of === 'object' ? of.id : of}` } : {};

/** Two copies of an order differ in when it was last changed: the earliest is when it was bought. */
const orderFacts = (sent: z.output<typeof order>): StoreTold => {
  const known = sent.items.flatMap(({ subscription: of }) => (of && typeof of === 'object' ? of : []));
  const lines = sent.items.map((item): PurchaseLine => ({ ...lineOf(item), ...ownerOf(item) }));
  const owners = lines.flatMap((line) => line.subscription ?? []);
  const details: StoreFact = {
    kind: sent.completed === false ? 'ordered' : 'paid',
    about: `order/${sent.id}`,
    ...(owners.length > 0 && { with: owners }),
    atMs: sent.changed,
    version: -sent.changed,
    ...said({ number: sent.reference, currency: sent.currency }),
    ...(typeof sent.total === 'number' && { amount: toHundredths(sent.total) }),
    ...buyer(sent.account, sent.customer),
    lines,
    ...(owners.length > 0 && { covers: { renewalAfterMs: sent.changed + EARLY_MS } }),
  };
  return { facts: [details, ...known.flatMap((item) => renewalsOf(item))] };
};

const chargeFacts = (sent: z.output<typeof charge>): StoreTold => {
  if (sent.status && sent.status !== 'successful') return { facts: [] };
  const known = typeof sent.subscription === 'object' ? sent.subscription : null;
  const details = typeof sent.order === 'object' ? sent.order : null;
  const owner: string = typeof sent.subscription === 'object' ? sent.subscription.id : sent.subscription;
  const orderId: string = typeof sent.order === 'object' ? sent.order.id : sent.order;
  const afterMs = sent.timestamp + EARLY_MS;
  const paid: StoreFact = {
    kind: 'paid',
    about: `order/${orderId}`,
    with: [`subscription/${owner}`],
    atMs: sent.timestamp,
    ...said({ number: details?.reference, currency: sent.currency }),
    ...(typeof sent.total === 'number' && { amount: toHundredths(sent.total) }),
    ...buyer(sent.account ?? known?.account),
    ...(known && linesOf(known)),
    // After a change to another interval, the old renewal is still the first one that is known.
    covers: known?.next && known.next > afterMs ? { untilMs: known.next } : { renewalAfterMs: afterMs },
  };
  // Without the expansion, the end of the period is not in the event.
  return known ? { facts: [paid, ...renewalsOf(known)] } : { facts: [paid], asks: [`subscription/${owner}`] };
};

const returnFacts = (sent: z.output<typeof returned>): StoreTold => {
  const isAll = typeof sent.original.total === 'number' && sent.totalReturn >= sent.original.total;
  const about = { about: `return/${sent.return}` as Thing, of: `order/${sent.original.order}` as Thing };
  const atMs = sent.changed;
  const amount = isAll ? null : toHundredths(sent.totalReturn);
  return { facts: [{ kind: 'refunded', ...about, ...said({ atMs }), amount }] };
};

/** An object, or what the API has to be asked where there is only its id. */
const orAsk = <Sent>(
  data: unknown,
  kind: string,
  schema: z.ZodType<Sent>,
  tell: (sent: Sent) => StoreTold,
): StoreTold => {
  const sent = schema.safeParse(data);
  if (sent.success) return tell(sent.data);
  const { data: bare } = z.union([id, z.object({ id }).transform((object) => object.id)]).safeParse(data);
  const isBare = typeof data === 'string' || Object.keys(data ?? {}).length <= 2;
  if (bare === undefined || !isBare) throw sent.error;
  return { facts: [], asks: [`${kind}/${bare}`] };
};

const toFacts = (type: string, data: unknown, createdMs: number | undefined): StoreTold => {
  switch (type) {
    case 'order.completed':
      return orAsk(data, 'order', order, (sent) => marked(orderFacts(sent), sent.live));
    case 'subscription.charge.completed':
      return chargeFacts(charge.parse(data));
    case 'return.created':
      return returnFacts(returned.parse(data));
    default:
      return type.startsWith('subscription.') && !type.endsWith('.reminder')
        ? orAsk(data, 'subscription', subscription, (sent) =>
            marked(subscriptionFacts(sent, type, createdMs), sent.live),
          )
        : { facts: [] };
  }
};

/** Returns what one event says. Throws for one that isn't as documented. */
export const toSpringFacts = ({ type, live, created, data }: z.output<typeof springEvent>): StoreTold =>
  marked(toFacts(type, data, created), live);

/** Returns what an object says that the API was asked for, by the kind of the ask. */
export const toAskedFacts = (kind: string, data: unknown): StoreFact[] =>
  toFacts(kind === 'order' ? 'order.completed' : 'subscription.asked', data, undefined).facts;

/** Returns the account that an object names without its address. */
export const accountOf = (data: unknown): string | undefined => {
  const owner = z.object({ account: accountRef }).safeParse(data).data?.account;
  return typeof owner === 'string' ? owner : undefined;
};

export const toAccountFacts = (data: unknown): StoreFact[] => {
  const { id: ref, contact: person } = account.parse(data);
  const email = person?.email;
  return email === undefined
    ? []
    : [{ kind: 'buyer', about: `customer/${ref}`, email, ...said({ name: nameOf(person) }) }];
};
