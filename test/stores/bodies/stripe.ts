// What Stripe sends, in the form of its documentation, with values of our own.

const toSeconds = (at: string) => Math.floor(Date.parse(at) / 1_000);

export interface StripeSession {
  id: string;
  mode?: 'payment' | 'subscription' | 'setup';
  paymentStatus?: string;
  intent?: string | null;
  invoice?: string | null;
  subscription?: string | null;
  link?: string | null;
  offer?: string;
  createdAt: string;
}

export const session = ({
  id,
  mode = 'payment',
  paymentStatus = 'paid',
  intent = null,
  invoice: of = null,
  subscription: owner = null,
  link = null,
  offer,
  createdAt,
}: StripeSession) => ({
  id,
  object: 'checkout.session',
  amount_subtotal: 3_000,
  amount_total: 3_600,
  created: toSeconds(createdAt),
  currency: 'usd',
  customer: 'cus_1',
  customer_details: { email: 'ada@example.com', name: 'Ada Byron', phone: null, address: { country: 'GB' } },
  customer_email: null,
  invoice: of,
  livemode: true,
  metadata: offer === undefined ? {} : { latchkey_offer: offer },
  mode,
  payment_intent: intent,
  payment_link: link,
  payment_status: paymentStatus,
  status: 'complete',
  subscription: owner,
});

export interface StripeInvoice {
  id: string;
  subscription?: string | null;
  status?: string;
  reason?: string;
  endsAt: string;
  createdAt: string;
  price?: string;
  product?: string;
  quantity?: number;
  offer?: string;
  /** Before API version 2025-03-31, an invoice named its charge, and its subscription at another place. */
  shape?: 'basil' | 'acacia';
  intent?: string;
}

export const invoice = ({
  id,
  subscription: owner = 'sub_1',
  status = 'paid',
  reason = 'subscription_cycle',
  endsAt,
  createdAt,
  price = 'price_1',
  product = 'prod_1',
  quantity = 1,
  offer,
  shape = 'basil',
  intent = `pi_${id}`,
}: StripeInvoice) => {
  const metadata = offer === undefined ? {} : { latchkey_offer: offer };
  const isNew = shape === 'basil';
  return {
    id,
    object: 'invoice',
    amount_due: 3_600,
    amount_paid: status === 'paid' ? 3_600 : 0,
    attempted: true,
    billing_reason: reason,
    created: toSeconds(createdAt),
    currency: 'usd',
    customer: 'cus_1',
    customer_email: 'ada@example.com',
    customer_name: 'Ada Byron',
    lines: {
      object: 'list',
      data: [
        {
          id: `il_${id}`,
          object: 'line_item',
          amount: 3_000,
          quantity,
          period: { start: toSeconds(createdAt), end: toSeconds(endsAt) },
          ...(isNew
            ? { pricing: { type: 'price_details', price_details: { price, product } } }
            : { price: { id: price, object: 'price', product }, proration: false }),
        },
      ],
      has_more: false,
    },
    livemode: true,
    number: `ORRERY-${id}`,
    // The period in which items were gathered, which is the one before.
    period_start: toSeconds(createdAt),
    period_end: toSeconds(createdAt),
    status,
    status_transitions: { paid_at: status === 'paid' ? toSeconds(createdAt) : null },
    total: 3_600,
    ...(isNew
      ? {
          parent: owner && {
            type: 'subscription_details',
            subscription_details: { subscription: owner, metadata },
          },
        }
      : {
          subscription: owner,
          subscription_details: { metadata },
          payment_intent: intent,
          charge: intent.replace('pi_', 'ch_'),
        }),
  };
};

export const invoicePayment = (of: string, intent: string) => ({
  id: `inpay_${of}`,
  object: 'invoice_payment',
  amount_paid: 3_600,
  invoice: of,
  livemode: true,
  payment: { type: 'payment_intent', payment_intent: intent },
  status: 'paid',
});

export const charge = (id: string, intent: string, refunded: number, of?: string) => ({
  id,
  object: 'charge',
  amount: 3_600,
  amount_refunded: refunded,
  currency: 'usd',
  customer: 'cus_1',
  ...(of !== undefined && { invoice: of }),
  livemode: true,
  paid: true,
  payment_intent: intent,
  refunded: refunded === 3_600,
});

export const dispute = (id: string, of: string, intent: string, status: string) => ({
  id,
  object: 'dispute',
  amount: 3_600,
  charge: of,
  currency: 'usd',
  livemode: true,
  payment_intent: intent,
  reason: 'fraudulent',
  status,
});

export const subscription = (id: string, status: string, startsAt: string) => ({
  id,
  object: 'subscription',
  cancel_at_period_end: false,
  customer: 'cus_1',
  ended_at: status === 'canceled' ? toSeconds(startsAt) : null,
  items: { data: [{ id: 'si_1', current_period_start: toSeconds(startsAt), price: { id: 'price_1' } }] },
  livemode: true,
  metadata: {},
  status,
});

let lastEvent = 0;

export const event = (type: string, object: object, isLive = true) => ({
  id: `evt_${++lastEvent}`,
  object: 'event',
  api_version: '2026-10-28.endive',
  created: 1_799_582_400,
  data: { object },
  livemode: isLive,
  pending_webhooks: 1,
  request: { id: null, idempotency_key: null },
  type,
});
