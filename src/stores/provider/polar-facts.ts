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
  type StoreTold,
  time,
} from './parts.ts';

// What the orders and subscriptions of Polar say. Each period of a subscription is an order of its own.

const customer = z.object({ id, email: optionalEmail, name: optionalName }).nullish();

const subscription = z.object({
  id,
  status: z.string(),
  current_period_start: optionalTime,
  current_period_end: optionalTime,
  ended_at: optionalTime,
  seats: z.number().nullish(),
  customer,
  modified_at: optionalTime,
  created_at: optionalTime,
});

const order = z.object({
  id,
  status: z.string().nullish(),
  paid: z.boolean().nullish(),
  invoice_number: optionalId,
  total_amount: z.number().nullish(),
  refunded_amount: z.number().nullish(),
  refunded_tax_amount: z.number().nullish(),
  currency: z.string().max(10).nullish(),
  billing_reason: z.string().nullish(),
  product_id: optionalId,
  subscription_id: optionalId,
  seats: z.number().nullish(),
  customer,
  subscription: subscription.nullish(),
  items: z
    .array(
      z.object({
        product_price_id: optionalId,
        amount: z.number().nullish(),
        proration: z.boolean().nullish(),
      }),
    )
    .max(200)
    .nullish(),
  created_at: time,
});

/** Both ends of the period in which the subscription is, each of which is a renewal. */
const renewalsOf = (sent: z.output<typeof subscription>): StoreFact[] =>
  [sent.current_period_start, sent.current_period_end]
    .filter((untilMs) => untilMs !== undefined)
    .map((untilMs) => ({ kind: 'renews', about: `subscription/${sent.id}`, untilMs }));

const PAID = new Set(['paid', 'refunded', 'partially_refunded']);

/** An order may be written a moment before its period begins, and no period is shorter than a day. */
const EARLY_MS = HOUR_MS;

/** Later, the subscription in an order is no longer as it was when the order was paid, unless its period began with the order. */
const coversOf = (sent: z.output<typeof order>, eventType: string) => {
  if (sent.subscription_id === undefined && !sent.subscription) return {};
  const { current_period_start: startMs = 0, current_period_end: untilMs = 0 } = sent.subscription ?? {};
  const isFirstCopy = eventType === 'order.paid';
  const isOfPeriod = isFirstCopy || Math.abs(startMs - sent.created_at) < EARLY_MS;
  return isOfPeriod && untilMs > sent.created_at
    ? { covers: { untilMs }, ...(isFirstCopy && { version: 1 }) }
    : { covers: { renewalAfterMs: sent.created_at + EARLY_MS } };
};

/** What an order is for, the prices first. Of a change, what was left of the plan before is given back by another line. */
const refsOf = ({ items, product_id }: z.output<typeof order>): string[] => {
  const known = items ?? [];
  const whole = known.filter(({ proration }) => !proration);
  const sold = (whole.length > 0 ? whole : known).filter(({ amount }) => (amount ?? 0) >= 0);
  const refs = [...sold.map((item) => item.product_price_id), product_id];
  return [...new Set(refs.filter((ref) => ref !== undefined))];
};

const orderFacts = (data: unknown, eventType: string): StoreTold => {
  const sent = order.parse(data);
  const about: Thing = `order/${sent.id}`;
  const owner = sent.subscription_id ?? sent.subscription?.id;
  const more: { with?: Thing[] } = owner === undefined ? {} : { with: [`subscription/${owner}`] };
  const details = {
    about,
    ...more,
    atMs: sent.created_at,
    number: sent.invoice_number ?? sent.id,
    ...buyerOf(sent.customer?.email, sent.customer?.name, sent.customer?.id),
    lines: [
      {
        refs: refsOf(sent),
        quantity: Math.max(1, sent.seats ?? sent.subscription?.seats ?? 1),
      },
    ],
  };
  if (!sent.paid && !PAID.has(sent.status ?? '')) return { facts: [{ kind: 'ordered', ...details }] };
  const money = said({ amount: sent.total_amount, currency: sent.currency });
  const facts: StoreFact[] = [{ kind: 'paid', ...details, ...money, ...coversOf(sent, eventType) }];
  // A running sum, without the ids of the refunds. Taxes are told apart.
  const sum = (sent.refunded_amount ?? 0) + (sent.refunded_tax_amount ?? 0);
  if (sent.status === 'refunded')
    facts.push({ kind: 'refunded', about, of: about, amount: null, version: Number.MAX_SAFE_INTEGER });
  else if (sum > 0) facts.push({ kind: 'refunded', about, of: about, amount: sum, version: sum });
  // With a new period's order, the one before it has ended.
  if (owner !== undefined && sent.billing_reason === 'subscription_cycle')
    facts.push({ kind: 'renews', about: `subscription/${owner}`, untilMs: sent.created_at });
  return { facts: [...facts, ...(sent.subscription ? renewalsOf(sent.subscription) : [])] };
};

const subscriptionFacts = (data: unknown, eventType: string): StoreTold => {
  const sent = subscription.parse(data);
  const about = { about: `subscription/${sent.id}` as Thing };
  const atMs = sent.current_period_start;
  const facts = renewalsOf(sent);
  if (sent.customer)
    facts.push({
      kind: 'ordered',
      ...about,
      ...said({ version: sent.modified_at ?? sent.created_at }),
      ...buyerOf(sent.customer.email, sent.customer.name, sent.customer.id),
    });
  if (sent.status === 'past_due')
    facts.push({ kind: 'past_due', ...about, ...said({ atMs, version: atMs }) });
  if (eventType === 'subscription.revoked' || sent.ended_at !== undefined)
    facts.push({ kind: 'ended', ...about, ...said({ atMs: sent.ended_at }) });
  return { facts };
};

/** Returns what an object says, by the event's type. Throws for one that isn't as documented. */
export const toPolarFacts = (eventType: string, data: unknown): StoreTold => {
  if (eventType.startsWith('order.'))
    return { ...orderFacts(data, eventType), ...(eventType !== 'order.paid' && { reachesBack: true }) };
  return eventType.startsWith('subscription.') ? subscriptionFacts(data, eventType) : { facts: [] };
};
