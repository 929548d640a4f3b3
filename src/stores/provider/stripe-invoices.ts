import * as z from 'zod';
import type { PurchaseLine, StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { buyerOf, id, optionalEmail, optionalId, optionalName, said, type StoreTold } from './parts.ts';

// What Stripe's invoices say, in the shapes before and since API version 2025-03-31.

/** An object, or its id if it isn't expanded. */
export const reference = z
  .union([z.string().max(200), z.object({ id }).transform((object) => object.id)])
  .nullish()
  .transform((value) => value || undefined);

const OFFER_KEY = 'latchkey_offer';
export const metadata = z.record(z.string(), z.unknown()).nullish();

export const offerIn = (data: z.output<typeof metadata>): string | undefined =>
  optionalId.safeParse(data?.[OFFER_KEY]).data;

const seconds = z.number().transform((value) => value * 1_000);

const proration = {
  proration: z.boolean().nullish(),
  proration_details: z.object({ credited_items: z.unknown() }).nullish(),
};
const item = z.object({ subscription_item: reference, ...proration }).nullish();

const line = z.object({
  amount: z.number().nullish(),
  subscription_item: reference,
  ...proration,
  parent: z.object({ subscription_item_details: item, invoice_item_details: item }).nullish(),
  quantity: z.number().nullish(),
  period: z.object({ start: seconds.nullish(), end: seconds }).nullish(),
  price: z.object({ id, product: reference }).nullish(),
  pricing: z
    .object({ price_details: z.object({ price: reference, product: reference }).nullish() })
    .nullish(),
});

const details = z.object({ subscription: reference, metadata }).nullish();

const invoice = z.object({
  id,
  number: optionalId,
  status: z.string().nullish(),
  billing_reason: z.string().nullish(),
  attempted: z.boolean().nullish(),
  amount_paid: z.number().nullish(),
  currency: z.string().max(10).nullish(),
  customer: reference,
  customer_email: optionalEmail,
  customer_name: optionalName,
  subscription: reference,
  subscription_details: details,
  parent: z.object({ subscription_details: details }).nullish(),
  payment_intent: reference,
  charge: reference,
  lines: z.object({ data: z.array(line).max(500), has_more: z.boolean().nullish() }),
  created: seconds,
  status_transitions: z.object({ paid_at: seconds.nullish() }).nullish(),
});
type Invoice = z.output<typeof invoice>;

/** The period that an invoice pays for. */
interface Covers {
  untilMs: number;
  fromMs?: number;
}

const refsOf = ({ price, pricing }: z.output<typeof line>): string[] =>
  [price?.id ?? pricing?.price_details?.price, price?.product ?? pricing?.price_details?.product].filter(
    (ref) => ref !== undefined,
  );

/** What a line says of itself as a part of a period, in each of the shapes. */
const prorationsOf = (sold: z.output<typeof line>) => [
  sold,
  sold.parent?.subscription_item_details,
  sold.parent?.invoice_item_details,
];

/** Whether a line gives back what was left of something, which may have cost nothing. */
const isCredit = (sold: z.output<typeof line>): boolean =>
  (sold.amount ?? 0) < 0 ||
  prorationsOf(sold).some((part) => Boolean(part?.proration_details?.credited_items));

const isProration = (sold: z.output<typeof line>): boolean =>
  prorationsOf(sold).some((part) => part?.proration === true);

/** The item of the subscription that a line is for. A price that is changed keeps its item. */
const itemOf = (sold: z.output<typeof line>): string | undefined =>
  prorationsOf(sold).find((part) => part?.subscription_item)?.subscription_item;

const endsOf = (lines: z.output<typeof line>[]): number[] =>
  lines
    .flatMap(({ period }) => period ?? [])
    .filter(({ start, end }) => end > (start ?? 0))
    .map(({ end }) => end);

/**
 * The end of a thing's own period, if it isn't the invoice's. What is sold once beside a subscription has no period, and that of
 * usage, which is billed in arrears, is over when the period that the invoice pays for begins: it has the shortest of the others.
 */
const endOf = (
  lines: z.output<typeof line>[],
  { fromMs = 0, untilMs }: Covers,
  all: z.output<typeof line>[],
) => {
  const ends = endsOf(lines);
  const last = Math.max(...ends);
  const end =
    last > fromMs || ends.length === 0 ? last : Math.min(...endsOf(all).filter((one) => one > fromMs));
  return end > fromMs && end < untilMs ? { untilMs: end } : {};
};

/** A thing that has only credits left: it was changed to another one, or removed. */
interface Credited {
  ref: string;
  itemId: string | undefined;
}

/**
 * What a line replaces: the credited thing of its own item, or else the credited things of items that the invoice bills nothing for.
 * A line for the rest of a period that replaces nothing was added.
 */
const insteadOf = (
  sold: z.output<typeof line>,
  credited: Credited[],
  billedItems: ReadonlySet<string | undefined>,
): { instead?: string[] } => {
  const own = itemOf(sold);
  const ofOwnItem = credited.filter(({ itemId }) => itemId !== undefined && itemId === own);
  const unbilled = credited.filter(({ itemId }) => itemId === undefined || !billedItems.has(itemId));
  const replaced = ofOwnItem.length > 0 ? ofOwnItem : unbilled;
  const isKnown = ofOwnItem.length > 0 || isProration(sold) || (own === undefined && unbilled.length > 0);
  return isKnown ? { instead: replaced.map(({ ref }) => ref).toSorted() } : {};
};

/**
 * What was bought: of each thing, the lines that begin last. Those before them are for the days before a change, and if only a
 * credit begins then, the thing was changed to another one. A price with tiers has a line for each.
 */
const linesOf = (sent: Invoice, offer: string | undefined, covers: Covers): PurchaseLine[] => {
  const startOf = ({ period }: z.output<typeof line>) => period?.start ?? 0;
  const named = sent.lines.data.filter((sold) => refsOf(sold).length > 0 || offer !== undefined);
  const byThing = [...Map.groupBy(named, (sold) => JSON.stringify(refsOf(sold))).values()].map((lines) => {
    const last = Math.max(...lines.map(startOf));
    const bought = lines.filter((sold) => startOf(sold) === last && !isCredit(sold));
    return { bought, lines };
  });
  const things = byThing.map(({ bought }) => bought).filter(({ length }) => length > 0);
  const credited = byThing
    .filter(({ bought }) => bought.length === 0)
    .flatMap(({ lines: [credit] }): Credited[] => {
      const [ref] = credit ? refsOf(credit) : [];
      return credit && ref !== undefined ? [{ ref, itemId: itemOf(credit) }] : [];
    });
  const billedItems = new Set(things.flat().map(itemOf));
  const own = things.length === 1 && offer !== undefined ? [offer] : [];
  return things
    .flatMap((lines) =>
      lines.map((sold) => ({
        refs: [...own, ...refsOf(sold)],
        quantity: Math.max(1, sold.quantity ?? 1),
        ...insteadOf(sold, credited, billedItems),
        ...endOf(lines, covers, things.flat()),
      })),
    )
    .filter(({ refs }) => refs.length > 0);
};

/**
 * The lines that say which period is paid. A notification has only the first ten lines, and a renewal's begin with those of changes
 * within the period before.
 */
const periodLinesOf = ({ lines: { data } }: Invoice, isCutRenewal: boolean) => {
  // A credit's period is that of what was changed.
  const sold = data.filter((one) => !isCredit(one));
  if (isCutRenewal) return sold.filter((one) => !isProration(one));
  return sold.length > 0 ? sold : data;
};

export const invoiceFacts = (data: unknown): StoreTold => {
  const sent = invoice.parse(data);
  const parent = sent.parent?.subscription_details ?? sent.subscription_details;
  const subscription = parent?.subscription ?? sent.subscription;
  const about = {
    about: `invoice/${sent.id}` as Thing,
    ...(subscription !== undefined && { with: [`subscription/${subscription}` as Thing] }),
    atMs: sent.status_transitions?.paid_at ?? sent.created,
  };
  if (sent.status !== 'paid') {
    // Before its first payment, a subscription is nothing that could be overdue.
    const isOverdue =
      sent.status === 'open' && sent.attempted === true && sent.billing_reason !== 'subscription_create';
    return { facts: isOverdue && subscription !== undefined ? [{ kind: 'past_due', ...about }] : [] };
  }
  const names: Thing[] = [
    ...(sent.payment_intent === undefined ? [] : [`intent/${sent.payment_intent}` as Thing]),
    ...(sent.charge === undefined ? [] : [`charge/${sent.charge}` as Thing]),
  ];
  const isCut = sent.lines.has_more === true;
  const isCutRenewal = isCut && sent.billing_reason === 'subscription_cycle';
  // The invoice's own period is the one before, in which its items were gathered.
  const periods = periodLinesOf(sent, isCutRenewal).flatMap(({ period }) => period ?? []);
  const starts = periods.flatMap(({ start }) => start ?? []);
  const covers: Covers = {
    untilMs: Math.max(...periods.map(({ end }) => end)),
    ...(starts.length > 0 && { fromMs: Math.max(...starts) }),
  };
  // Until the API tells the rest, a renewal is for what was paid before.
  const lines = isCutRenewal ? [] : linesOf(sent, offerIn(parent?.metadata), covers);
  const paid: StoreFact = {
    kind: 'paid',
    ...about,
    ...(isCut && { version: -1 }),
    ...(names.length > 0 && { as: names }),
    ...said({ number: sent.number, amount: sent.amount_paid, currency: sent.currency }),
    ...buyerOf(sent.customer_email, sent.customer_name, sent.customer),
    ...(lines.length > 0 && { lines }),
    ...(subscription !== undefined && periods.length > 0 && { covers }),
  };
  if (!isCut) return { facts: [paid] };
  // What the API tells replaces it, and has no names.
  const joined: StoreFact = { kind: 'joined', about: about.about, as: names };
  return { facts: names.length > 0 ? [paid, joined] : [paid], asks: [about.about] };
};

const invoicePayment = z.object({
  invoice: reference,
  status: z.string().nullish(),
  payment: z.object({ payment_intent: reference, charge: reference }),
});

/** Joins an invoice and its payment, which don't name each other since 2025-03-31. */
export const invoicePaymentFacts = (data: unknown): StoreTold => {
  const { invoice: owner, payment } = invoicePayment.parse(data);
  const other: Thing | null =
    payment.payment_intent === undefined
      ? payment.charge === undefined
        ? null
        : `charge/${payment.charge}`
      : `intent/${payment.payment_intent}`;
  if (owner === undefined || other === null) return { facts: [] };
  return { facts: [{ kind: 'joined', about: `invoice/${owner}`, as: [other] }] };
};
