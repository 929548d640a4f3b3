// Stripe objects of API version 2026-10-28, limited to the fields that the service reads.

export type StripeObject = Record<string, unknown>;

export interface Invoice {
  id: string;
  status: 'paid' | 'open' | 'draft';
  billing_reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  periodStartMs: number;
  periodEndMs: number;
  amount: number;
}

export interface Checkout {
  id: string;
  paymentId: string;
  customer: string;
}

const seconds = (ms: number) => Math.floor(ms / 1_000);

export const invoice = (invoiced: Invoice, subscriptionId: string | null = null): StripeObject => ({
  id: invoiced.id,
  object: 'invoice',
  status: invoiced.status,
  billing_reason: invoiced.billing_reason,
  amount_due: invoiced.amount,
  amount_paid: invoiced.status === 'paid' ? invoiced.amount : 0,
  currency: 'usd',
  created: seconds(invoiced.periodStartMs),
  status_transitions: { paid_at: invoiced.status === 'paid' ? seconds(Date.now()) : null },
  lines: {
    object: 'list',
    has_more: false,
    data: [{ period: { start: seconds(invoiced.periodStartMs), end: seconds(invoiced.periodEndMs) } }],
  },
  parent: {
    type: 'subscription_details',
    quote_details: null,
    subscription_details: { metadata: {}, subscription: subscriptionId },
  },
});

/** Each item has its own period; the subscription has none. */
export const items = (invoiced: Invoice) => ({
  object: 'list',
  has_more: false,
  data: [
    {
      id: 'si_1',
      object: 'subscription_item',
      quantity: 1,
      current_period_start: seconds(invoiced.periodStartMs),
      current_period_end: seconds(invoiced.periodEndMs),
    },
  ],
});

export const subscription = (
  id: string,
  metadata: Record<string, string>,
  customer: string,
  first: Invoice,
): StripeObject => ({
  id,
  object: 'subscription',
  status: 'active',
  customer,
  metadata,
  items: items(first),
  latest_invoice: invoice(first, id),
  cancel_at: null,
  cancel_at_period_end: false,
  canceled_at: null,
  ended_at: null,
  created: seconds(first.periodStartMs),
});

export const checkoutSession = ({ id, paymentId, customer }: Checkout): StripeObject => ({
  id: `cs_test_${id}`,
  object: 'checkout.session',
  mode: 'subscription',
  status: 'complete',
  payment_status: 'paid',
  customer,
  subscription: id,
  metadata: { latchkey_payment_id: paymentId },
});
