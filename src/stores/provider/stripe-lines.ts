import * as z from 'zod';
import type { PurchaseLine } from '../../purchases/rules/facts.ts';
import { id } from './parts.ts';

// What the lines of Stripe's invoices say, in the shapes before and since API version 2025-03-31.

/** An object, or its id if it isn't expanded. */
export const reference = z
  .union([z.string().max(200), z.object({ id }).transform((object) => object.id)])
  .nullish()
  .transform((value) => value || undefined);

export const seconds = z.number().transform((value) => value * 1_000);

const proration = {
  proration: z.boolean().nullish(),
  proration_details: z.object({ credited_items: z.unknown() }).nullish(),
};
const item = z.object({ subscription_item: reference, ...proration }).nullish();

export const invoiceLine = z.object({
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

type Line = z.output<typeof invoiceLine>;

/** The period that an invoice pays for. */
export interface Covers {
  untilMs: number;
  fromMs?: number;
}

const refsOf = ({ price, pricing }: Line): string[] =>
  [price?.id ?? pricing?.price_details?.price, price?.product ?? pricing?.price_details?.product].filter(
    (ref) => ref !== undefined,
  );

/** What a line says of itself as a part of a period, in each of the shapes. */
const prorationsOf = (sold: Line) => [
  sold,
  sold.parent?.subscription_item_details,
  sold.parent?.invoice_item_details,
];

/** Whether a line gives back what was left of something, which may have cost nothing. */
export const isCredit = (sold: Line): boolean =>
  (sold.amount ?? 0) < 0 ||
  prorationsOf(sold).some((part) => Boolean(part?.proration_details?.credited_items));

export const isProration = (sold: Line): boolean =>
  prorationsOf(sold).some((part) => part?.proration === true);

/** The item of the subscription that a line is for. A price that is changed keeps its item. */
const itemOf = (sold: Line): string | undefined =>
  prorationsOf(sold).find((part) => part?.subscription_item)?.subscription_item;

const endsOf = (lines: Line[]): number[] =>
  lines
    .flatMap(({ period }) => period ?? [])
    .filter(({ start, end }) => end > (start ?? 0))
    .map(({ end }) => end);

/**
 * The end of a thing's own period, if it isn't the invoice's. What is sold once beside a subscription has no period, and that of
 * usage, which is billed in arrears, is over when the period that the invoice pays for begins: it has the shortest of the others.
 */
const endOf = (lines: Line[], { fromMs = 0, untilMs }: Covers, all: Line[]) => {
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
  sold: Line,
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
export const linesOf = (all: Line[], offer: string | undefined, covers: Covers | null): PurchaseLine[] => {
  const startOf = ({ period }: Line) => period?.start ?? 0;
  const named = all.filter((sold) => refsOf(sold).length > 0 || offer !== undefined);
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
        ...(covers && endOf(lines, covers, things.flat())),
      })),
    )
    .filter(({ refs }) => refs.length > 0);
};
