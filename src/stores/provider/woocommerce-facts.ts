import * as z from 'zod';
import type { Buyer, PurchaseLine, StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { addMonths, DAY_MS, HOUR_MS } from '../../shared/rules/dates.ts';
import {
  buyerOf,
  id,
  optionalEmail,
  optionalId,
  optionalName,
  optionalTime,
  said,
  type StoreTold,
} from './parts.ts';

// What the orders of WooCommerce say, and the subscriptions of the extension WooCommerce Subscriptions. A body is the object as it
// is now, so its last change decides between two copies.

const decimal = z
  .union([z.string().max(30), z.number()])
  .transform(Number)
  .pipe(z.number());

const common = {
  id,
  status: z.string(),
  customer_id: optionalId,
  billing: z.object({ email: optionalEmail, first_name: optionalName, last_name: optionalName }).nullish(),
  date_created_gmt: optionalTime,
  date_modified_gmt: optionalTime,
};

const items = z
  .array(z.object({ product_id: optionalId, variation_id: optionalId, quantity: z.number().nullish() }))
  .max(500);

const linesOf = (sold: z.output<typeof items>): PurchaseLine[] =>
  sold.map((item) => ({
    refs: [item.variation_id, item.product_id].filter((ref) => ref !== undefined),
    quantity: Math.max(1, item.quantity ?? 1),
  }));

const order = z.object({
  ...common,
  number: optionalId,
  currency: z.string().max(10).nullish(),
  line_items: items,
  total: decimal,
  date_paid_gmt: optionalTime,
  refunds: z
    .array(z.object({ id, total: decimal }))
    .max(500)
    .nullish(),
  meta_data: z
    .array(z.object({ key: z.string(), value: z.unknown().optional() }))
    .max(2_000)
    .nullish(),
});

const subscription = z.object({
  ...common,
  parent_id: optionalId,
  line_items: items.nullish(),
  next_payment_date_gmt: optionalTime,
  last_payment_date_gmt: optionalTime,
  end_date_gmt: optionalTime,
  start_date_gmt: optionalTime,
  trial_end_date_gmt: optionalTime,
  billing_period: z.string().nullish(),
  billing_interval: z.coerce.number().nullish(),
});

/** In hundredths, which add up exactly. */
const toHundredths = (amount: number) => Math.round(Math.abs(amount) * 100);

const customerOf = ({
  billing,
  customer_id,
}: Pick<z.output<typeof order>, 'billing' | 'customer_id'>): { buyer?: Buyer } => {
  const name = [billing?.first_name, billing?.last_name].filter((part) => part !== undefined).join(' ');
  return buyerOf(billing?.email, name || undefined, customer_id);
};

const PAID = new Set(['processing', 'completed', 'refunded']);
/** What was paid and is none of these anymore was taken back. */
const TAKEN_BACK = new Set(['refunded', 'cancelled', 'failed']);

const metaOf = (sent: z.output<typeof order>, key: string): string | undefined => {
  const value = sent.meta_data?.find((entry) => entry.key === key)?.value;
  return optionalId.safeParse(value).data;
};

/** An order may be paid a moment before its subscription's date, and no period is shorter than a day. */
const EARLY_MS = HOUR_MS;

/** A renewal's order is made when the period before it ends. */
const renewalOf = (
  sent: z.output<typeof order>,
  renewed: string | undefined,
  isEarly: boolean,
): StoreFact[] =>
  renewed === undefined || isEarly || sent.date_created_gmt === undefined
    ? []
    : [{ kind: 'renews', about: `subscription/${renewed}`, untilMs: sent.date_created_gmt }];

const orderFacts = (data: unknown): StoreTold => {
  const sent = order.parse(data);
  const about: Thing = `order/${sent.id}`;
  const version = sent.date_modified_gmt ?? 0;
  const renewed = metaOf(sent, '_subscription_renewal');
  const isEarly = metaOf(sent, '_subscription_renewal_early') !== undefined;
  // A switch to another product, or to another number of it, is an order of its own.
  const switched = metaOf(sent, '_subscription_switch');
  const owner = renewed ?? switched;
  const paidMs = sent.date_paid_gmt;
  const atMs = paidMs ?? sent.date_created_gmt;
  const details = {
    about,
    ...(owner !== undefined && { with: [`subscription/${owner}` as Thing] }),
    ...said({ atMs, number: sent.number }),
    ...customerOf(sent),
    lines: linesOf(sent.line_items),
  };
  const isPaid = PAID.has(sent.status) || (TAKEN_BACK.has(sent.status) && paidMs !== undefined);
  if (!isPaid) return { facts: [{ kind: 'ordered', ...details, version }] };
  const sum = (sent.refunds ?? []).reduce((total, { total: one }) => total + toHundredths(one), 0);
  return {
    facts: [
      {
        kind: 'paid',
        ...details,
        version,
        amount: toHundredths(sent.total),
        ...said({ currency: sent.currency }),
        // An order doesn't say whether a subscription began with it.
        covers: {
          renewalAfterMs: (atMs ?? 0) + EARLY_MS,
          ...(owner === undefined && { orNone: true as const }),
        },
      },
      // Also if nothing is given back: a refund can be deleted again.
      { kind: 'refunded', about, of: about, version, amount: TAKEN_BACK.has(sent.status) ? null : sum },
      ...renewalOf(sent, renewed, isEarly),
    ],
    // Either may have moved the next payment, and the one before is still the first that is known.
    ...(isEarly && { asks: [`early/${renewed}/${sent.id}`] }),
    ...(switched !== undefined && { asks: [`?early/${switched}/${sent.id}`] }),
  };
};

const renewed = z.object({ next_payment_date_gmt: optionalTime, line_items: items.nullish() });

/**
 * What an order that was paid early, or for a switch, pays: all that its subscription has now, to the end of the period to which it
 * was moved. The earliest answer counts, since the subscription goes on.
 */
export const toEarlyRenewal = (data: unknown, owner: unknown): StoreFact[] => {
  const { next_payment_date_gmt: untilMs, line_items: sold } = renewed.parse(owner);
  if (untilMs === undefined) return [];
  const now = { covers: { untilMs }, ...(sold && { lines: linesOf(sold) }) };
  return orderFacts(data).facts.map((fact) =>
    fact.kind === 'paid' ? { ...fact, ...now, version: Number.MAX_SAFE_INTEGER - (fact.version ?? 0) } : fact,
  );
};

const MONTHS: Record<string, number> = { month: 1, year: 12 };
const DAYS: Record<string, number> = { day: 1, week: 7 };
const MAX_PERIODS = 2_000;

/** Returns the end of the first period, and of the one of the last payment, for a subscription that has no next payment. */
const endsOf = (sent: z.output<typeof subscription>): number[] => {
  const start = sent.trial_end_date_gmt ?? sent.start_date_gmt;
  const count = Math.max(1, sent.billing_interval ?? 1);
  const months = MONTHS[sent.billing_period ?? ''];
  const days = DAYS[sent.billing_period ?? ''];
  if (start === undefined || (months === undefined && days === undefined)) return [];
  const endOf = (n: number) =>
    months === undefined ? start + n * count * (days ?? 1) * DAY_MS : addMonths(start, n * count * months);
  const paidMs = (sent.last_payment_date_gmt ?? sent.date_modified_gmt ?? start) + EARLY_MS;
  let n = 1;
  while (n < MAX_PERIODS && endOf(n) <= paidMs) n++;
  return [...new Set([endOf(1), endOf(n)])];
};

const OVER = new Set(['cancelled', 'expired', 'switched']);

const subscriptionFacts = (data: unknown): StoreTold => {
  const sent = subscription.parse(data);
  const about = { about: `subscription/${sent.id}` as Thing };
  const version = sent.date_modified_gmt ?? 0;
  const facts: StoreFact[] = [
    {
      kind: 'ordered',
      ...about,
      version,
      ...(sent.parent_id !== undefined && { with: [`order/${sent.parent_id}` as Thing] }),
      ...customerOf(sent),
    },
  ];
  const untilMs =
    sent.status === 'active'
      ? (sent.next_payment_date_gmt ?? sent.end_date_gmt)
      : sent.status === 'pending-cancel'
        ? sent.end_date_gmt
        : undefined;
  const dates = untilMs === undefined ? endsOf(sent) : [untilMs];
  // An order doesn't say which of its lines a subscription renews. The earliest copy is as it was when the order was paid.
  const sold = sent.line_items ? { lines: linesOf(sent.line_items) } : {};
  const earliest = { version: Number.MAX_SAFE_INTEGER - version, ...sold };
  for (const at of dates) facts.push({ kind: 'renews', ...about, untilMs: at, ...earliest });
  if (sent.status === 'on-hold') facts.push({ kind: 'past_due', ...about, atMs: version, version });
  if (OVER.has(sent.status)) facts.push({ kind: 'ended', ...about, ...said({ atMs: sent.end_date_gmt }) });
  return { facts };
};

/** Returns what an object says, by the topic of its notification. Throws for one that isn't as documented. */
export const toWooFacts = (topic: string, data: unknown): StoreTold => {
  // A deleted order is no more than its id. It stays what it was.
  if (topic.endsWith('.deleted')) return { facts: [] };
  // Whoever edits an old order lets it be sent again.
  if (topic.startsWith('order.'))
    return { ...orderFacts(data), ...(topic !== 'order.created' && { reachesBack: true }) };
  return topic.startsWith('subscription.') ? subscriptionFacts(data) : { facts: [] };
};
