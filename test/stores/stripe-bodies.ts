// Events as Stripe sends them, with what a purchase follows from. The values are our own.

const seconds = (day: string) => Date.parse(`${day}T10:00:00.000Z`) / 1_000;

let events = 0;

export const stripeEvent = (type: string, object: object) => ({
  id: `evt_${++events}`,
  object: 'event',
  api_version: '2025-09-30.clover',
  created: seconds('2026-11-01'),
  livemode: true,
  type,
  data: { object },
});

interface Sold {
  /** The number of the subscription. */
  n: number;
  /** Whether the endpoint has the version of the API before 2025-03-31. */
  isOld?: boolean;
}

export const session = (n: number, fields: object = {}) => ({
  id: `cs_${n}`,
  object: 'checkout.session',
  created: seconds('2026-11-01'),
  livemode: true,
  mode: 'payment',
  payment_status: 'paid',
  payment_link: null,
  payment_intent: `pi_${n}`,
  invoice: null,
  subscription: null,
  customer: `cus_${n}`,
  customer_details: { email: `buyer${n}@example.com`, name: 'Grace Hopper' },
  amount_total: 4_900,
  currency: 'eur',
  metadata: {},
  ...fields,
});

/** An invoice for a period of a subscription, which is paid by a payment of the same number. */
export const invoice = ({ n, isOld = false }: Sold, period: number, until: string, fields: object = {}) => {
  const details = { subscription: `sub_${n}`, metadata: {} };
  const line = {
    id: `il_${n}_${period}`,
    amount: 900,
    quantity: 1,
    period: { start: seconds('2026-11-01'), end: seconds(until) },
  };
  const own = isOld
    ? {
        subscription: `sub_${n}`,
        subscription_details: { metadata: {} },
        charge: `ch_${n}_${period}`,
        payment_intent: `pi_${n}_${period}`,
        lines: { data: [{ ...line, proration: false, price: { id: 'price_pro', product: 'prod_app' } }] },
      }
    : {
        parent: { type: 'subscription_details', subscription_details: details },
        lines: {
          data: [
            {
              ...line,
              pricing: { price_details: { price: 'price_pro', product: 'prod_app' } },
              parent: { subscription_item_details: { proration: false } },
            },
          ],
        },
      };
  return {
    id: `in_${n}_${period}`,
    object: 'invoice',
    status: 'paid',
    attempted: true,
    number: `A-000${n}-${period}`,
    created: seconds('2026-11-01') + period,
    livemode: true,
    customer: `cus_${n}`,
    customer_email: `buyer${n}@example.com`,
    customer_name: 'Grace Hopper',
    amount_paid: 900,
    currency: 'eur',
    // The whole invoice is of another period than its lines.
    period_end: seconds('2026-11-01'),
    status_transitions: { paid_at: seconds('2026-11-01') + period },
    ...own,
    ...fields,
  };
};

/** What joins a charge and an invoice, where they don’t name each other. */
export const invoicePayment = (n: number, period: number) => ({
  id: `inpay_${n}_${period}`,
  object: 'invoice_payment',
  livemode: true,
  invoice: `in_${n}_${period}`,
  payment: { type: 'payment_intent', payment_intent: `pi_${n}_${period}` },
});

export const charge = (name: string, refunded: number, { isOld = false, amount = 900 } = {}) => ({
  id: `ch_${name}`,
  object: 'charge',
  livemode: true,
  amount,
  amount_refunded: refunded,
  refunded: refunded >= amount,
  payment_intent: `pi_${name}`,
  ...(isOld && { invoice: `in_${name}` }),
});

export const dispute = (name: string, status: string) => ({
  id: `dp_${name}`,
  object: 'dispute',
  livemode: true,
  charge: `ch_${name}`,
  payment_intent: `pi_${name}`,
  status,
});

export const subscription = (n: number, status: string) => ({
  id: `sub_${n}`,
  object: 'subscription',
  livemode: true,
  status,
  ended_at: status === 'canceled' ? seconds('2026-12-15') : null,
});
