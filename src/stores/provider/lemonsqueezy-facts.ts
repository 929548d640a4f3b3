import * as z from 'zod';
import type { StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { HOUR_MS } from '../../shared/rules/dates.ts';
import {
  buyerOf,
  id,
  optionalEmail,
  optionalId,
  optionalName,
  optionalTime,
  said,
  time,
  type StoreTold,
} from './parts.ts';

// What the objects of Lemon Squeezy say: orders, subscriptions, and their invoices.

const common = {
  user_email: optionalEmail,
  user_name: optionalName,
  customer_id: optionalId,
  status: z.string(),
  created_at: time,
  updated_at: optionalTime,
  test_mode: z.boolean().nullish(),
};
const money = {
  total: z.number(),
  refunded_amount: z.number().nullish(),
  currency: z.string().max(10).nullish(),
};

const order = z.object({
  ...common,
  ...money,
  order_number: optionalId,
  first_order_item: z
    .object({ variant_id: optionalId, product_id: optionalId, quantity: z.number().nullish() })
    .nullish(),
});
const subscription = z.object({
  ...common,
  order_id: optionalId,
  variant_id: optionalId,
  product_id: optionalId,
  first_subscription_item: z.object({ quantity: z.number().nullish() }).nullish(),
  renews_at: optionalTime,
  ends_at: optionalTime,
});
const invoice = z.object({ ...common, ...money, subscription_id: id, billing_reason: z.string() });

const tested = ({ test_mode }: { test_mode?: boolean | null | undefined }): { isTest?: true } =>
  test_mode ? { isTest: true } : {};

const linesOf = (variant: string | undefined, product: string | undefined, quantity?: number | null) => {
  const refs = [variant, product].filter((ref) => ref !== undefined);
  return refs.length > 0 ? { lines: [{ refs, quantity: Math.max(1, quantity ?? 1) }] } : {};
};

/** Returns what was given back of an order or an invoice: a running sum, without the ids of the refunds. */
const refundOf = (
  about: Thing,
  sent: { status: string; refunded_amount?: number | null | undefined },
  more: { with?: Thing[]; isTest?: true },
): StoreFact[] => {
  const sum = sent.refunded_amount ?? 0;
  if (sent.status !== 'refunded' && sum <= 0) return [];
  const amount = sent.status === 'refunded' ? null : sum;
  return [
    { kind: 'refunded', about, of: about, ...more, amount, version: amount ?? Number.MAX_SAFE_INTEGER },
  ];
};

const PAID = new Set(['paid', 'refunded', 'partial_refund', 'fraudulent']);

const orderFacts = (orderId: string, attributes: unknown): StoreTold => {
  const sent = order.parse(attributes);
  const about: Thing = `order/${orderId}`;
  const item = sent.first_order_item;
  const details = {
    about,
    atMs: sent.created_at,
    ...tested(sent),
    ...buyerOf(sent.user_email, sent.user_name, sent.customer_id),
    ...said({ number: sent.order_number }),
    ...linesOf(item?.variant_id, item?.product_id, item?.quantity),
  };
  if (!PAID.has(sent.status)) return { facts: [{ kind: 'ordered', ...details }] };
  const paid: StoreFact = {
    kind: 'paid',
    ...details,
    amount: sent.total,
    ...said({ currency: sent.currency }),
  };
  const isFraud = sent.status === 'fraudulent';
  return {
    facts: [
      paid,
      ...refundOf(about, sent, tested(sent)),
      ...(isFraud
        ? [{ kind: 'disputed' as const, about, of: about, state: 'open' as const, ...tested(sent) }]
        : []),
    ],
  };
};

/** The payment that a subscription began with: its order and its first invoice, which don't name each other. */
const firstOf = (subscriptionId: string): Thing => `first-payment/${subscriptionId}`;

/** While a payment fails, `renews_at` is the next attempt, and no end of a period. */
const renewalOf = ({ status, renews_at, ends_at }: z.output<typeof subscription>): number | undefined => {
  if (status === 'active' || status === 'on_trial') return renews_at;
  if (status === 'expired') return ends_at;
  return status === 'cancelled' ? (ends_at ?? renews_at) : undefined;
};

const planOf = (sent: z.output<typeof subscription>) =>
  linesOf(sent.variant_id, sent.product_id, sent.first_subscription_item?.quantity);

const subscriptionFacts = (subscriptionId: string, attributes: unknown): StoreTold => {
  const sent = subscription.parse(attributes);
  const about = { about: `subscription/${subscriptionId}` as Thing, ...tested(sent) };
  const version = sent.updated_at ?? sent.created_at;
  const orders: Thing[] = sent.order_id === undefined ? [] : [`order/${sent.order_id}`];
  const facts: StoreFact[] = [
    {
      kind: 'ordered',
      ...about,
      version,
      with: orders,
      ...buyerOf(sent.user_email, sent.user_name, sent.customer_id),
    },
  ];
  if (orders.length > 0)
    facts.push({ kind: 'joined', ...about, about: firstOf(subscriptionId), with: [about.about], as: orders });
  const untilMs = renewalOf(sent);
  // A change within a period is paid with a later invoice, so the earliest copy says what the period was paid for.
  if (untilMs !== undefined)
    facts.push({
      kind: 'renews',
      ...about,
      untilMs,
      version: Number.MAX_SAFE_INTEGER - version,
      ...planOf(sent),
    });
  if (sent.status === 'past_due' || sent.status === 'unpaid')
    facts.push({ kind: 'past_due', ...about, atMs: version, version });
  if (sent.status === 'expired') facts.push({ kind: 'ended', ...about, ...said({ atMs: sent.ends_at }) });
  return { facts };
};

/** A renewal may be written a moment before its date, and no period is shorter than a day. */
const EARLY_MS = HOUR_MS;

const invoiceFacts = (invoiceId: string, attributes: unknown): StoreTold => {
  const sent = invoice.parse(attributes);
  const about: Thing = `invoice/${invoiceId}`;
  const owner: Thing = `subscription/${sent.subscription_id}`;
  const isFirst = sent.billing_reason === 'initial';
  const more = { with: [owner], ...tested(sent) };
  // With a renewal, the period before it has ended, also if nobody has told its date.
  const renewal: StoreFact[] =
    sent.billing_reason === 'renewal'
      ? [{ kind: 'renews', about: owner, untilMs: sent.created_at, ...tested(sent) }]
      : [];
  if (sent.status === 'pending' && !isFirst)
    return { facts: [{ kind: 'past_due', about, ...more, atMs: sent.created_at }, ...renewal] };
  if (!PAID.has(sent.status)) return { facts: [] };
  const paid: StoreFact = {
    kind: 'paid',
    about,
    ...more,
    ...(isFirst && { as: [firstOf(sent.subscription_id)] }),
    atMs: sent.created_at,
    amount: sent.total,
    ...said({ currency: sent.currency }),
    covers: { renewalAfterMs: sent.created_at + EARLY_MS },
  };
  return {
    facts: [paid, ...refundOf(about, sent, more), ...renewal],
    // After a change in the middle of a period, the old renewal is still the first one that is known.
    ...(sent.billing_reason === 'updated' && { asks: [`invoice/${invoiceId}`] }),
  };
};

/** Returns the fact of an invoice for a change, whose period and plan its subscription tells. It replaces the one without. */
export const toChangedInvoice = (
  invoiceId: string,
  attributes: unknown,
  owner: unknown,
  untilMs: number,
): StoreFact[] => {
  const plan = planOf(subscription.parse(owner));
  return invoiceFacts(invoiceId, attributes).facts.map((fact) =>
    fact.kind === 'paid' ? { ...fact, ...plan, covers: { untilMs }, version: 1 } : fact,
  );
};

const READERS: Record<string, (objectId: string, attributes: unknown) => StoreTold> = {
  orders: orderFacts,
  subscriptions: subscriptionFacts,
  'subscription-invoices': invoiceFacts,
};

export const resource = z.object({ type: z.string().max(100), id, attributes: z.unknown().optional() });

/** Returns what an object says. Throws for one that isn't as documented. */
export const toLemonFacts = ({ type, id: objectId, attributes }: z.output<typeof resource>): StoreTold =>
  READERS[type]?.(objectId, attributes) ?? { facts: [] };
