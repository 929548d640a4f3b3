// What Polar sends, in the form of its documentation, with values of our own.

export interface PolarSubscription {
  id: string;
  status?: string;
  start: string;
  end: string | null;
  cancelsAtEnd?: boolean;
  endedAt?: string | null;
  seats?: number | null;
}

const CUSTOMER = {
  id: '992fae2a-2a17-4b7a-8d9e-e287cf90131b',
  created_at: '2027-01-10T11:58:00Z',
  modified_at: null,
  metadata: {},
  external_id: null,
  email: 'ada@example.com',
  email_verified: true,
  name: 'Ada Byron',
  billing_address: { country: 'GB' },
  tax_id: null,
  organization_id: '1dbfc517-0bbf-4301-9ba8-555ca42b9737',
};
const PRODUCT = {
  id: 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23',
  name: 'Orrery',
  recurring_interval: 'month',
  is_archived: false,
  organization_id: CUSTOMER.organization_id,
};

export const subscription = ({
  id,
  status = 'active',
  start,
  end,
  cancelsAtEnd = false,
  endedAt = null,
  seats = null,
}: PolarSubscription) => ({
  id,
  created_at: '2027-01-10T12:00:00Z',
  modified_at: null,
  amount: 3_000,
  currency: 'usd',
  recurring_interval: 'month',
  recurring_interval_count: 1,
  status,
  current_period_start: start,
  current_period_end: end,
  trial_start: null,
  trial_end: null,
  cancel_at_period_end: cancelsAtEnd,
  canceled_at: null,
  started_at: '2027-01-10T12:00:00Z',
  ends_at: cancelsAtEnd ? end : null,
  ended_at: endedAt,
  customer_id: CUSTOMER.id,
  product_id: PRODUCT.id,
  discount_id: null,
  checkout_id: null,
  seats,
  metadata: {},
});

/** A subscription's own notification also has the customer and the product. */
export const fullSubscription = (input: PolarSubscription) => ({
  ...subscription(input),
  customer: CUSTOMER,
  product: PRODUCT,
  discount: null,
  prices: [{ id: '196ca717-4d84-4d28-a1b8-777255797dbc', type: 'recurring', product_id: PRODUCT.id }],
});

export interface PolarOrder {
  id: string;
  reason?: 'purchase' | 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  status?: string;
  subscription?: ReturnType<typeof subscription> | null;
  refunded?: number;
  refundedTax?: number;
  seats?: number | null;
  product?: string;
  total?: number;
  /** By their prices, each with what it costs. Those of a change are what is given back, and what is left to pay. */
  items?: { price: string; amount: number; isChange?: boolean }[];
  createdAt: string;
}

export const order = ({
  id,
  reason = 'purchase',
  status = 'paid',
  subscription: of = null,
  refunded = 0,
  refundedTax = 0,
  seats = null,
  product = PRODUCT.id,
  total = 3_600,
  items = [{ price: '196ca717-4d84-4d28-a1b8-777255797dbc', amount: 3_000 }],
  createdAt,
}: PolarOrder) => ({
  id,
  created_at: createdAt,
  modified_at: null,
  status,
  paid: status !== 'pending',
  subtotal_amount: 3_000,
  discount_amount: 0,
  net_amount: 3_000,
  tax_amount: 600,
  total_amount: total,
  applied_balance_amount: 0,
  due_amount: Math.max(0, total),
  refunded_amount: refunded,
  refunded_tax_amount: refundedTax,
  currency: 'usd',
  billing_reason: reason,
  billing_name: 'Ada Byron',
  billing_address: { country: 'GB' },
  invoice_number: 'ORRERY-0001',
  is_invoice_generated: true,
  customer_id: CUSTOMER.id,
  product_id: product,
  discount_id: null,
  subscription_id: of?.id ?? null,
  checkout_id: null,
  seats,
  metadata: {},
  custom_field_data: {},
  customer: CUSTOMER,
  product: { ...PRODUCT, id: product },
  discount: null,
  subscription: of,
  items: items.map(({ price, amount, isChange = false }, i) => ({
    id: `item_${id}_${i}`,
    label: 'Orrery',
    amount,
    tax_amount: amount / 5,
    proration: isChange,
    product_price_id: price,
  })),
});

export const event = (type: string, data: object, timestamp = '2027-01-10T12:00:09Z') => ({
  type,
  timestamp,
  data,
});
