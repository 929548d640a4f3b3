import { Stripe } from 'stripe';
import { isCheckout } from '../rules/books.ts';
import type { Fact } from '../rules/fact.ts';
import { RefundRefused } from './provider-failed.ts';
import { isFirst, latestInvoice, type PlanOf, toChargeFacts, toId } from './stripe-facts.ts';

// What was charged for an invoice, and giving it back.

const NOTHING_LEFT = 'charge_already_refunded';

/** A checkout's first invoice has no name of its own here, if it was paid by an earlier version. */
const invoiceOf = async (api: Stripe, paymentRef: string): Promise<string | null> => {
  if (!isCheckout(paymentRef)) return paymentRef;
  return toId((await api.checkout.sessions.retrieve(paymentRef)).invoice);
};

const FAILED = new Set<string | null>(['failed', 'canceled']);

/** Gives back what is left of one payment of an invoice. Stripe repeats a refusal for 24 hours, and is asked until it doesn't. */
const refund = async (api: Stripe, id: string, target: Stripe.RefundCreateParams): Promise<void> => {
  try {
    const { status } = await api.refunds.create(target, { idempotencyKey: `refund-${id}` });
    if (FAILED.has(status)) throw new RefundRefused(new Error(`The Stripe refund of ${id} is ${status}.`));
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError) || error.code !== NOTHING_LEFT) throw error;
  }
};

const refundEach = async (api: Stripe, paymentRef: string): Promise<void> => {
  const invoice = await invoiceOf(api, paymentRef);
  if (invoice === null) return;
  const { data } = await api.invoicePayments.list({ invoice, status: 'paid' });
  for (const { id, payment } of data) {
    const intent = toId(payment.payment_intent);
    const charge = toId(payment.charge);
    const target = intent === null ? charge && { charge } : { payment_intent: intent };
    if (!target) continue;
    await refund(api, id, target);
  }
};

/** Stripe has understood the request and refuses it. It answers otherwise while it is down, busy, or gets a wrong key. */
const REFUSALS = new Set<number | undefined>([400, 402, 403, 404]);

/** Gives back all that was paid for an invoice or a checkout. */
export const refundPayment = async (api: Stripe, paymentRef: string): Promise<void> => {
  try {
    await refundEach(api, paymentRef);
  } catch (error) {
    const isRefusal = error instanceof Stripe.errors.StripeError && REFUSALS.has(error.statusCode);
    throw isRefusal ? new RefundRefused(error) : error;
  }
};

/** Gives back all that was paid for a subscription which buys nothing. It began not long ago, so it has few invoices. */
export const refundAll = async (api: Stripe, subscription: string): Promise<void> => {
  const { data } = await api.invoices.list({ subscription, status: 'paid' });
  for (const { id } of data) if (id) await refundPayment(api, id);
};

/** Voids what nobody may pay anymore: Stripe's reminders still link to the open invoices of a subscription that is over. */
export const voidOpen = async (api: Stripe, subscription: string): Promise<void> => {
  const { data } = await api.invoices.list({ subscription, status: 'open' });
  for (const { id } of data) if (id) await api.invoices.voidInvoice(id);
};

const disputeOf = async (api: Stripe, charge: Stripe.Charge): Promise<Stripe.Dispute | null> => {
  if (!charge.disputed) return null;
  const { data } = await api.disputes.list({ charge: charge.id, limit: 1 });
  return data[0] ?? null;
};

/** The most invoices in an answer of Stripe's. */
const MOST = 100;

/** The oldest invoice whose money has arrived: the first one, unless that was never paid. */
export const findFirstPaid = async (
  api: Stripe,
  subscription: Stripe.Subscription,
  options?: Stripe.RequestOptions,
): Promise<Stripe.Invoice | null> => {
  const latest = latestInvoice(subscription);
  if (isFirst(latest)) return latest.status === 'paid' ? latest : null;
  const wanted = { subscription: subscription.id, status: 'paid' as const, limit: MOST };
  return (await api.invoices.list(wanted, options)).data.at(-1) ?? null;
};

/** Invoices that a check looks at: the last one is about to be followed by the next when its period is over. */
const RECENT = 2;

const readChargeOf = async (
  api: Stripe,
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice,
  planOf: PlanOf,
  options?: Stripe.RequestOptions,
): Promise<Fact[]> => {
  if (!invoice.id) return [];
  const expand = ['data.payment.payment_intent.latest_charge'];
  const { data } = await api.invoicePayments.list({ invoice: invoice.id, expand, limit: 1 }, options);
  const intent = data[0]?.payment.payment_intent;
  const charge = typeof intent === 'object' ? intent.latest_charge : null;
  if (!charge || typeof charge !== 'object') return [];
  return toChargeFacts(subscription, invoice, charge, await disputeOf(api, charge), planOf);
};

/** What was paid lately, and what of it was given back or is disputed. */
export const readRecentCharges = async (
  api: Stripe,
  subscription: Stripe.Subscription,
  planOf: PlanOf,
  options?: Stripe.RequestOptions,
): Promise<Fact[]> => {
  const wanted = { subscription: subscription.id, status: 'paid' as const, limit: RECENT };
  const { data } = await api.invoices.list(wanted, options);
  // The older one first, as they were paid.
  const facts = await Promise.all(
    data.toReversed().map((invoice) => readChargeOf(api, subscription, invoice, planOf, options)),
  );
  return facts.flat();
};

/** The invoice that a charge has paid, or null if it has paid none. */
export const findInvoice = async (api: Stripe, intent: string): Promise<Stripe.Invoice | null> => {
  const { data } = await api.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: intent },
    expand: ['data.invoice'],
    limit: 1,
  });
  const invoice = data[0]?.invoice;
  return invoice && typeof invoice === 'object' && !('deleted' in invoice) ? invoice : null;
};

/** What was given back, or is disputed, of a charge that has paid the invoice. */
export const readCharge = async (
  api: Stripe,
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice,
  chargeId: string,
  planOf: PlanOf,
): Promise<Fact[]> => {
  const charge = await api.charges.retrieve(chargeId);
  return toChargeFacts(subscription, invoice, charge, await disputeOf(api, charge), planOf);
};
