import type { Stripe } from 'stripe';
import type { PaidPlan } from '../../shared/rules/plans.ts';
import type { DisputeState, Fact } from '../rules/fact.ts';

// What the objects at Stripe say.

/** The metadata keys for our ids on Stripe's checkouts and subscriptions. */
export const PAYMENT_ID_KEY = 'latchkey_payment_id';
export const ACCOUNT_ID_KEY = 'latchkey_account_id';

export const toId = (object: string | { id: string } | null | undefined): string | null =>
  typeof object === 'string' ? object : (object?.id ?? null);

const toMs = (seconds: number) => seconds * 1_000;

const toPeriod = (subscription: Stripe.Subscription) => {
  const [item] = subscription.items.data;
  if (!item) throw new Error(`Stripe subscription ${subscription.id} has no items.`);
  return { startMs: toMs(item.current_period_start), endMs: toMs(item.current_period_end) };
};

const FAILING_STATUSES = new Set<Stripe.Subscription.Status>(['past_due', 'unpaid']);
const STARTED_STATUSES = new Set<Stripe.Subscription.Status>([
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'canceled',
]);

const FIRST_INVOICE = 'subscription_create';

export const latestInvoice = ({ latest_invoice: invoice }: Stripe.Subscription) =>
  typeof invoice === 'object' ? invoice : null;

export const isFirst = (invoice: Stripe.Invoice | null): invoice is Stripe.Invoice =>
  invoice?.billing_reason === FIRST_INVOICE;

/** Whether nothing can be changed of the subscription anymore. */
export const isOver = ({ status }: Stripe.Subscription) =>
  status === 'canceled' || status === 'incomplete_expired';

/** Whether the subscription ended before anything was paid. */
export const isNeverPaid = (subscription: Stripe.Subscription, firstPaid: Stripe.Invoice | null) =>
  isOver(subscription) && firstPaid === null;

/** Returns the plan that a subscription is for, if its price is one that this service knows. */
export type PlanOf = (price: Stripe.Price | undefined) => PaidPlan | null;

const planOfSubscription = (subscription: Stripe.Subscription, planOf: PlanOf) =>
  planOf(subscription.items.data[0]?.price);

const chargeOf = (subscriptionRef: string, invoice: Stripe.Invoice) => ({
  subscriptionRef,
  invoiceRef: invoice.id ?? '',
  amount: invoice.amount_paid,
  currency: invoice.currency,
});

/** Only the first invoice names a payment of ours. */
const namedBy = (subscription: Stripe.Subscription, invoice: Stripe.Invoice): string | null =>
  isFirst(invoice) ? (subscription.metadata[PAYMENT_ID_KEY] ?? null) : null;

/**
 * Whether an invoice is a payment of its own, whatever it was for: an invoice for a change of price can fail and be paid, too. A
 * first invoice that is also the latest one isn't: its money bought the subscription.
 */
const isSettled = (
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice | null,
): invoice is Stripe.Invoice =>
  invoice?.status === 'paid' && !(isFirst(invoice) && invoice.id === latestInvoice(subscription)?.id);

/** In seconds. Null if it isn't known. */
const paidAtOf = (invoice: Stripe.Invoice): number | null => invoice.status_transitions?.paid_at ?? null;

/** Until when an invoice pays, by its lines. */
const untilOf = (invoice: Stripe.Invoice, fallbackMs: number): number =>
  Math.max(...(invoice.lines?.data ?? []).map(({ period }) => toMs(period.end)), 0) || fallbackMs;

const settledFact = (subscription: Stripe.Subscription, invoice: Stripe.Invoice, planOf: PlanOf): Fact => {
  const period = toPeriod(subscription);
  const isLatest = invoice.id === latestInvoice(subscription)?.id;
  const paidAt = paidAtOf(invoice);
  return {
    kind: 'settled',
    ...chargeOf(subscription.id, invoice),
    paymentId: namedBy(subscription, invoice),
    paidAtMs: paidAt === null ? null : toMs(paidAt),
    plan: isLatest ? planOfSubscription(subscription, planOf) : null,
    period: isLatest ? period : { ...period, endMs: untilOf(invoice, toMs(invoice.created)) },
  };
};

/** What an invoice of the subscription says by itself, which may be older than the latest one. */
export const toInvoiceFacts = (
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice | null,
  planOf: PlanOf,
): Fact[] => {
  const isOlder = invoice !== null && invoice.id !== latestInvoice(subscription)?.id;
  return isOlder && isSettled(subscription, invoice) ? [settledFact(subscription, invoice, planOf)] : [];
};

const boughtFact = (
  subscription: Stripe.Subscription,
  firstPaid: Stripe.Invoice,
  paymentId: string,
): Fact => {
  const period = toPeriod(subscription);
  const { subscriptionRef, invoiceRef, amount, currency } = chargeOf(subscription.id, firstPaid);
  const isLatest = invoiceRef === latestInvoice(subscription)?.id;
  return {
    kind: 'bought',
    paymentId,
    subscriptionRef,
    customerRef: toId(subscription.customer),
    invoiceRef,
    charged: { amount, currency },
    isTooLate: isOver(subscription) && (paidAtOf(firstPaid) ?? 0) > (subscription.ended_at ?? Infinity),
    period,
    untilMs: isLatest ? period.endMs : untilOf(firstPaid, period.startMs),
  };
};

/**
 * Derives facts from a subscription's current state, so that the order of notifications doesn't matter. The terms come after the
 * other invoices: paying an older one ends only the older failure. An end comes before what was paid later, which buys nothing.
 * Without `firstPaid`, the oldest paid invoice, nothing is bought, but plans that an earlier version began unpaid must fail and end.
 */
export const toFacts = (
  subscription: Stripe.Subscription,
  readAtMs: number,
  planOf: PlanOf,
  firstPaid: Stripe.Invoice | null,
  ofInvoices: Fact[] = [],
): Fact[] => {
  const paymentId = subscription.metadata[PAYMENT_ID_KEY];
  const subscriptionRef = subscription.id;
  if (!paymentId || !STARTED_STATUSES.has(subscription.status)) return ofInvoices;
  const period = toPeriod(subscription);
  const invoice = latestInvoice(subscription);
  // A bank debit takes days, and can bounce while the subscription goes on.
  const bought = firstPaid ? [boughtFact(subscription, firstPaid, paymentId)] : [];
  const settled = isSettled(subscription, invoice) ? [settledFact(subscription, invoice, planOf)] : [];
  if (subscription.status === 'canceled') {
    const atMs = toMs(subscription.ended_at ?? subscription.created);
    const ended: Fact = { kind: 'ended', subscriptionRef, atMs };
    const isTooLate = invoice !== null && toMs(paidAtOf(invoice) ?? 0) > atMs;
    return isTooLate
      ? [...bought, ended, ...settled, ...ofInvoices]
      : [...bought, ...settled, ended, ...ofInvoices];
  }
  const { cancel_at: endsAt, cancel_at_period_end: endsWithPeriod, status } = subscription;
  const terms: Fact = {
    kind: 'terms',
    subscriptionRef,
    plan: planOfSubscription(subscription, planOf),
    endsAtMs: endsAt ? toMs(endsAt) : endsWithPeriod ? period.endMs : null,
    failingRef: FAILING_STATUSES.has(status) ? (invoice?.id ?? null) : null,
    period,
    readAtMs,
  };
  return [...bought, ...settled, ...ofInvoices, terms];
};

const DISPUTE_STATES: Partial<Record<Stripe.Dispute.Status, DisputeState>> = {
  needs_response: 'open',
  under_review: 'open',
  won: 'won',
  lost: 'lost',
};

/** Derives facts from the charge of an invoice. An inquiry, whose money stays, is no dispute yet. */
export const toChargeFacts = (
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice,
  charge: Stripe.Charge,
  dispute: Stripe.Dispute | null,
  planOf: PlanOf,
): Fact[] => {
  const about = {
    ...chargeOf(subscription.id, invoice),
    paymentId: namedBy(subscription, invoice),
    untilMs: untilOf(invoice, toMs(invoice.created)),
  };
  const state = dispute && DISPUTE_STATES[dispute.status];
  return [
    // The invoice may be older than the latest one, and its own notification may be lost.
    ...(isSettled(subscription, invoice) ? [settledFact(subscription, invoice, planOf)] : []),
    ...(charge.amount_refunded > 0
      ? [{ kind: 'refunded' as const, ...about, amount: charge.amount_refunded }]
      : []),
    ...(state
      ? [{ kind: 'disputed' as const, ...about, disputeRef: dispute.id, state, amount: dispute.amount }]
      : []),
  ];
};
