// What Paddle sends, in the form of its documentation, with values of our own.

export interface PaddleTransaction {
  id: string;
  subscription?: string | null;
  customer?: string | null;
  status?: string;
  origin?: string;
  period?: { starts_at: string; ends_at: string } | null;
  createdAt: string;
  price?: string;
  product?: string;
  quantity?: number;
  total?: string;
  invoiceNumber?: string | null;
}

export const transaction = ({
  id,
  subscription = null,
  customer = 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
  status = 'completed',
  origin = 'web',
  period = null,
  createdAt,
  price = 'pri_01gsz8x8sawmvhz1pv30nge1ke',
  product = 'pro_01gsz4t5hdjse780zja8vvr7jg',
  quantity = 1,
  total = '3600',
  invoiceNumber = '325-10566',
}: PaddleTransaction) => ({
  id,
  status,
  customer_id: customer,
  address_id: 'add_01hv8gq3318ktkfengj2r75gfx',
  business_id: null,
  custom_data: null,
  currency_code: 'USD',
  origin,
  subscription_id: subscription,
  invoice_id: null,
  invoice_number: invoiceNumber,
  collection_mode: 'automatic',
  discount_id: null,
  billing_details: null,
  billing_period: period,
  items: [
    {
      price: {
        id: price,
        product_id: product,
        name: 'Orrery',
        billing_cycle: period && { interval: 'month', frequency: 1 },
        trial_period: null,
        unit_price: { amount: '3000', currency_code: 'USD' },
      },
      quantity,
      proration: null,
    },
  ],
  details: {
    totals: {
      subtotal: '3000',
      discount: '0',
      tax: '600',
      total,
      credit: '0',
      balance: '0',
      grand_total: total,
      fee: '230',
      earnings: '2770',
      currency_code: 'USD',
    },
    line_items: [
      {
        id: `txnitm_${id}`,
        price_id: price,
        quantity,
        totals: { subtotal: '3000', tax: '600', discount: '0', total },
        product: { id: product, name: 'Orrery' },
        tax_rate: '0.2',
      },
    ],
  },
  payments: [{ amount: total, status: 'captured', captured_at: createdAt }],
  checkout: { url: null },
  created_at: createdAt,
  updated_at: createdAt,
  billed_at: createdAt,
});

export interface PaddleAdjustment {
  id: string;
  action: string;
  transaction: string;
  subscription?: string | null;
  status?: string;
  type?: 'full' | 'partial' | 'tax';
  total?: string;
  createdAt: string;
}

export const adjustment = ({
  id,
  action,
  transaction: transactionId,
  subscription = null,
  status = 'approved',
  type = 'full',
  total = '3600',
  createdAt,
}: PaddleAdjustment) => ({
  id,
  action,
  type,
  transaction_id: transactionId,
  subscription_id: subscription,
  customer_id: 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
  reason: 'Bought by mistake',
  credit_applied_to_balance: null,
  currency_code: 'USD',
  status,
  items: [
    {
      id: `adjitm_${id}`,
      item_id: `txnitm_${transactionId}`,
      type,
      amount: total,
      proration: null,
      totals: { subtotal: '3000', tax: '600', total },
    },
  ],
  totals: { subtotal: '3000', tax: '600', total, fee: '230', earnings: '2770', currency_code: 'USD' },
  payout_totals: null,
  created_at: createdAt,
  updated_at: createdAt,
});

export interface PaddleSubscription {
  id: string;
  status: string;
  updatedAt: string;
  period?: { starts_at: string; ends_at: string } | null;
  canceledAt?: string | null;
  cancelsAt?: string | null;
  transaction?: string;
  items?: [price: string, quantity: number][];
}

/** Only `subscription.created` names the transaction. */
export const subscription = ({
  id,
  status,
  updatedAt,
  period = null,
  canceledAt = null,
  cancelsAt = null,
  transaction: transactionId,
  items = [['pri_01gsz8x8sawmvhz1pv30nge1ke', 1]],
}: PaddleSubscription) => ({
  id,
  status,
  ...(transactionId !== undefined && { transaction_id: transactionId }),
  customer_id: 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
  address_id: 'add_01hv8gq3318ktkfengj2r75gfx',
  business_id: null,
  currency_code: 'USD',
  started_at: '2027-01-10T12:00:00.000000Z',
  first_billed_at: '2027-01-10T12:00:00.000000Z',
  next_billed_at: status === 'active' && cancelsAt === null ? (period?.ends_at ?? null) : null,
  paused_at: null,
  canceled_at: canceledAt,
  collection_mode: 'automatic',
  billing_cycle: { interval: 'month', frequency: 1 },
  current_billing_period: period,
  scheduled_change: cancelsAt && { action: 'cancel', effective_at: cancelsAt, resume_at: null },
  items: items.map(([price, quantity]) => ({
    status: 'active',
    quantity,
    recurring: true,
    price: { id: price, product_id: 'pro_01gsz4t5hdjse780zja8vvr7jg' },
  })),
  custom_data: null,
  created_at: '2027-01-10T12:00:00.000000Z',
  updated_at: updatedAt,
});

export const customer = ({
  id = 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
  email = 'ada@example.com',
  name = 'Ada Byron',
} = {}) => ({
  id,
  name,
  email,
  marketing_consent: false,
  status: 'active',
  custom_data: null,
  locale: 'en',
  created_at: '2027-01-10T11:58:00.000000Z',
  updated_at: '2027-01-10T11:58:00.000000Z',
});

export const event = (type: string, data: object, occurredAt = '2027-01-10T12:00:09.612345Z') => ({
  event_id: 'evt_01hv8x2acma2gz7he8kg2s0hna',
  event_type: type,
  occurred_at: occurredAt,
  notification_id: 'ntf_01hv8x2af22vsrjn6yvpwm9xvw',
  data,
});
