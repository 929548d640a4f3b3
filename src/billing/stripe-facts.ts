import type { Stripe } from 'stripe';
import type { Fact } from './provider.ts';

// What a subscription at Stripe says.

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

/** Whether the money for the first period has not arrived. */
const isFirstUnpaid = (subscription: Stripe.Subscription) => {
  const invoice = latestInvoice(subscription);
  return invoice?.billing_reason === FIRST_INVOICE && invoice.status !== 'paid';
};

/** Whether the subscription ended before anything was paid. */
export const isNeverPaid = (subscription: Stripe.Subscription) =>
  subscription.status === 'incomplete_expired' ||
  (subscription.status === 'canceled' && isFirstUnpaid(subscription));

/** Derives facts from a subscription's current state, so that the order of notifications doesn't matter. */
export const toFacts = (subscription: Stripe.Subscription, readAtMs: number): Fact[] => {
  const paymentId = subscription.metadata[PAYMENT_ID_KEY];
  const subscriptionRef = subscription.id;
  if (!paymentId || !STARTED_STATUSES.has(subscription.status)) return [];
  // A bank debit takes days: until its money has arrived, nothing has been bought.
  if (isFirstUnpaid(subscription)) return [];
  const period = toPeriod(subscription);
  const facts: Fact[] = [
    { kind: 'paid', paymentId, subscriptionRef, customerRef: toId(subscription.customer), period },
  ];
  const isFailing = FAILING_STATUSES.has(subscription.status);
  if (subscription.status !== 'canceled') {
    const { cancel_at: endsAt, cancel_at_period_end: endsWithPeriod } = subscription;
    const endsAtMs = endsAt ? toMs(endsAt) : endsWithPeriod ? period.endMs : null;
    facts.push({ kind: 'cancellation', subscriptionRef, endsAtMs, isFailing, readAtMs });
  }
  const invoice = latestInvoice(subscription);
  // Whatever the invoice was for: a change of price or of the billing date can fail and be paid, too.
  if (invoice?.id && invoice.billing_reason !== FIRST_INVOICE && invoice.status === 'paid') {
    const { amount_paid: amount, currency } = invoice;
    facts.push({ kind: 'renewed', subscriptionRef, invoiceRef: invoice.id, amount, currency, period });
  }
  if (invoice?.id && isFailing) {
    facts.push({
      kind: 'payment_failed',
      subscriptionRef,
      invoiceRef: invoice.id,
      // An invoice can be days older than its failure. Only the first report of a failure has an effect.
      atMs: readAtMs,
      period,
    });
  }
  if (subscription.status === 'canceled') {
    facts.push({ kind: 'ended', subscriptionRef, atMs: toMs(subscription.ended_at ?? subscription.created) });
  }
  return facts;
};
