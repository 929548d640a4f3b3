import * as z from 'zod';
import type { StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { buyerOf, id, optionalEmail, optionalName, said, type StoreTold } from './parts.ts';
import { invoiceFacts, invoicePaymentFacts, metadata, offerIn } from './stripe-invoices.ts';
import { reference } from './stripe-lines.ts';

// What Stripe's objects say: checkout sessions, invoices, charges, disputes, and subscriptions.

const seconds = z.number().transform((value) => value * 1_000);

const item = z.object({
  quantity: z.number().nullish(),
  price: z.object({ id, product: reference }).nullish(),
});

const session = z.object({
  id,
  mode: z.string(),
  payment_status: z.string(),
  payment_intent: reference,
  payment_link: reference,
  invoice: reference,
  subscription: reference,
  customer: reference,
  customer_details: z.object({ email: optionalEmail, name: optionalName }).nullish(),
  customer_email: optionalEmail,
  amount_total: z.number().nullish(),
  currency: z.string().max(10).nullish(),
  metadata,
  created: seconds,
  line_items: z.object({ data: z.array(item).max(500) }).nullish(),
});
type Session = z.output<typeof session>;

/** A session names no price, unless its line items were asked for. */
const linesOf = (sent: Session) => {
  const own = [offerIn(sent.metadata), sent.payment_link].filter((ref) => ref !== undefined);
  const items = sent.line_items?.data ?? [];
  if (items.length === 0) return own.length > 0 ? [{ refs: own, quantity: 1 }] : [];
  // What the seller has named stands for all that is in the session.
  if (items.length > 1 && own.length > 0) return [{ refs: own, quantity: 1 }];
  return items.map(({ price, quantity }) => ({
    refs: [...own, price?.id, price?.product].filter((ref) => ref !== undefined),
    quantity: Math.max(1, quantity ?? 1),
  }));
};

const PAID = new Set(['paid', 'no_payment_required']);

export const sessionFacts = (data: unknown): StoreTold => {
  const sent = session.parse(data);
  if (sent.mode === 'setup') return { facts: [] };
  const about: Thing = `session/${sent.id}`;
  const owner: Thing[] = sent.subscription === undefined ? [] : [`subscription/${sent.subscription}`];
  const names: Thing[] = [
    ...(sent.invoice === undefined ? [] : [`invoice/${sent.invoice}` as Thing]),
    ...(sent.payment_intent === undefined ? [] : [`intent/${sent.payment_intent}` as Thing]),
  ];
  const lines = linesOf(sent);
  const isComplete = sent.line_items !== undefined && sent.line_items !== null;
  const person = sent.customer_details;
  const more = { ...(owner.length > 0 && { with: owner }), atMs: sent.created };
  const ordered: StoreFact = {
    kind: 'ordered',
    about,
    ...more,
    version: isComplete ? 1 : 0,
    ...buyerOf(person?.email ?? sent.customer_email, person?.name, sent.customer),
    ...(lines.length > 0 && { lines }),
  };
  // An invoice has its lines, but nothing else says what a single payment was for.
  const asks =
    isComplete || sent.mode !== 'payment' ? {} : { asks: [lines.length > 0 ? `?${about}` : about] };
  // A bank debit takes days: until its money has arrived, nothing is paid.
  if (!PAID.has(sent.payment_status)) return { facts: [ordered], ...asks };
  const paid: StoreFact = {
    kind: 'paid',
    about,
    ...more,
    ...(names.length > 0 && { as: names }),
    ...(sent.mode === 'payment' && { number: sent.payment_intent ?? sent.id }),
    ...said({ amount: sent.amount_total, currency: sent.currency }),
  };
  return { facts: [ordered, paid], ...asks };
};

const charge = z.object({
  id,
  payment_intent: reference,
  invoice: reference,
  amount_refunded: z.number(),
  refunded: z.boolean().nullish(),
});

/** Other names of what a charge has paid. */
const joinedOf = (chargeId: string, intent: string | undefined, invoice: string | undefined): StoreFact[] => {
  const names: Thing[] = [
    ...(intent === undefined ? [] : [`intent/${intent}` as Thing]),
    ...(invoice === undefined ? [] : [`invoice/${invoice}` as Thing]),
  ];
  return names.length === 0 ? [] : [{ kind: 'joined', about: `charge/${chargeId}`, as: names }];
};

const chargeFacts = (data: unknown): StoreTold => {
  const sent = charge.parse(data);
  if (sent.amount_refunded <= 0) return { facts: [] };
  const about: Thing = `charge/${sent.id}`;
  // A running sum, without the ids of the refunds.
  const amount = sent.refunded ? null : sent.amount_refunded;
  const version = amount ?? Number.MAX_SAFE_INTEGER;
  return {
    facts: [
      ...joinedOf(sent.id, sent.payment_intent, sent.invoice),
      { kind: 'refunded', about, of: about, amount, version },
    ],
  };
};

const dispute = z.object({ id, charge: reference, payment_intent: reference, status: z.string() });

/** An inquiry, whose money stays, is no dispute yet. */
const STATES: Record<string, 'open' | 'won' | 'lost'> = {
  needs_response: 'open',
  under_review: 'open',
  won: 'won',
  lost: 'lost',
};

const disputeFacts = (data: unknown): StoreTold => {
  const sent = dispute.parse(data);
  const state = STATES[sent.status];
  if (state === undefined || sent.charge === undefined) return { facts: [] };
  const of: Thing = `charge/${sent.charge}`;
  return {
    facts: [
      ...joinedOf(sent.charge, sent.payment_intent, undefined),
      { kind: 'disputed', about: `dispute/${sent.id}`, of, state },
    ],
  };
};

const subscription = z.object({
  id,
  status: z.string(),
  current_period_start: seconds.nullish(),
  items: z
    .object({ data: z.array(z.object({ current_period_start: seconds.nullish() })).max(100) })
    .nullish(),
  ended_at: seconds.nullish(),
});

const subscriptionFacts = (data: unknown): StoreTold => {
  const sent = subscription.parse(data);
  const about: Thing = `subscription/${sent.id}`;
  const atMs = sent.items?.data[0]?.current_period_start ?? sent.current_period_start;
  if (sent.status === 'canceled' || sent.status === 'incomplete_expired')
    return { facts: [{ kind: 'ended', about, ...said({ atMs: sent.ended_at }) }] };
  const isFailing = sent.status === 'past_due' || sent.status === 'unpaid';
  return { facts: isFailing ? [{ kind: 'past_due', about, ...said({ atMs, version: atMs }) }] : [] };
};

/** By what an event's type begins with. */
const READERS: [start: string, read: (data: unknown) => StoreTold][] = [
  ['checkout.session.', sessionFacts],
  ['invoice_payment.paid', invoicePaymentFacts],
  ['invoice.', invoiceFacts],
  ['charge.refunded', chargeFacts],
  ['charge.dispute.', disputeFacts],
  ['customer.subscription.', subscriptionFacts],
];

export const stripeEvent = z.object({
  id: z.string().max(200).nullish(),
  type: z.string().min(1).max(100),
  livemode: z.boolean().nullish(),
  data: z.object({ object: z.unknown().optional() }),
});

/** Returns what an event says. Throws for one that isn't as documented. */
export const toStripeFacts = ({ type, livemode, data }: z.output<typeof stripeEvent>): StoreTold => {
  const told = READERS.find(([start]) => type.startsWith(start))?.[1](data.object) ?? { facts: [] };
  if (livemode !== false) return told;
  return { ...told, facts: told.facts.map((fact) => ({ ...fact, isTest: true as const })) };
};
