// What Lemon Squeezy sends, in the form of its documentation, with values of our own.

export interface LemonOrder {
  id: string;
  number?: number;
  email?: string;
  status?: string;
  total?: number;
  refunded?: number;
  variant?: number;
  product?: number;
  quantity?: number;
  createdAt: string;
  isTest?: boolean;
}

export const order = ({
  id,
  number = 1042,
  email = 'ada@example.com',
  status = 'paid',
  total = 3_600,
  refunded = 0,
  variant = 88_001,
  product = 44_001,
  quantity = 1,
  createdAt,
  isTest = false,
}: LemonOrder) => ({
  type: 'orders',
  id,
  attributes: {
    store_id: 7,
    customer_id: 61,
    identifier: '104e18a2-d755-4d4b-80c4-a6c1dcbe1c10',
    order_number: number,
    user_name: 'Ada Byron',
    user_email: email,
    currency: 'USD',
    currency_rate: '1.0000',
    subtotal: 3_000,
    discount_total: 0,
    tax: 600,
    total,
    refunded_amount: refunded,
    status,
    status_formatted: status,
    refunded: status === 'refunded',
    refunded_at: refunded > 0 ? createdAt : null,
    first_order_item: {
      id: 1,
      order_id: Number(id),
      product_id: product,
      variant_id: variant,
      price_id: 99_001,
      product_name: 'Orrery',
      variant_name: 'Default',
      price: 3_000,
      quantity,
      created_at: createdAt,
      updated_at: createdAt,
      test_mode: isTest,
    },
    urls: { receipt: 'https://app.lemonsqueezy.com/my-orders/104e18a2' },
    created_at: createdAt,
    updated_at: createdAt,
    test_mode: isTest,
  },
  relationships: {},
  links: { self: `https://api.lemonsqueezy.com/v1/orders/${id}` },
});

export interface LemonSubscription {
  id: string;
  order: string;
  status?: string;
  renewsAt: string;
  endsAt?: string | null;
  variant?: number;
  quantity?: number;
  createdAt: string;
  updatedAt: string;
  isTest?: boolean;
}

export const subscription = ({
  id,
  order: orderId,
  status = 'active',
  renewsAt,
  endsAt = null,
  variant = 88_001,
  quantity = 1,
  createdAt,
  updatedAt,
  isTest = false,
}: LemonSubscription) => ({
  type: 'subscriptions',
  id,
  attributes: {
    store_id: 7,
    customer_id: 61,
    order_id: Number(orderId),
    order_item_id: 1,
    product_id: 44_001,
    variant_id: variant,
    product_name: 'Orrery',
    variant_name: 'Default',
    user_name: 'Ada Byron',
    user_email: 'ada@example.com',
    status,
    status_formatted: status,
    card_brand: 'visa',
    card_last_four: '4242',
    pause: null,
    cancelled: status === 'cancelled',
    trial_ends_at: null,
    billing_anchor: 10,
    first_subscription_item: {
      id: 1,
      subscription_id: Number(id),
      price_id: 99_001,
      quantity,
      is_usage_based: false,
      created_at: createdAt,
      updated_at: updatedAt,
    },
    urls: {
      update_payment_method: `https://orrery.lemonsqueezy.com/subscription/${id}/payment-details`,
      customer_portal: 'https://orrery.lemonsqueezy.com/billing?expires=1800000000',
      customer_portal_update_subscription: `https://orrery.lemonsqueezy.com/billing/${id}/update`,
    },
    renews_at: renewsAt,
    ends_at: endsAt,
    created_at: createdAt,
    updated_at: updatedAt,
    test_mode: isTest,
  },
  relationships: {},
  links: { self: `https://api.lemonsqueezy.com/v1/subscriptions/${id}` },
});

export interface LemonInvoice {
  id: string;
  subscription: string;
  reason?: 'initial' | 'renewal' | 'updated';
  status?: string;
  total?: number;
  refunded?: number;
  createdAt: string;
  isTest?: boolean;
}

export const invoice = ({
  id,
  subscription: subscriptionId,
  reason = 'renewal',
  status = 'paid',
  total = 3_600,
  refunded = 0,
  createdAt,
  isTest = false,
}: LemonInvoice) => ({
  type: 'subscription-invoices',
  id,
  attributes: {
    store_id: 7,
    subscription_id: Number(subscriptionId),
    customer_id: 61,
    user_name: 'Ada Byron',
    user_email: 'ada@example.com',
    billing_reason: reason,
    card_brand: 'visa',
    card_last_four: '4242',
    currency: 'USD',
    currency_rate: '1.0000',
    status,
    status_formatted: status,
    refunded: status === 'refunded',
    refunded_at: refunded > 0 ? createdAt : null,
    subtotal: 3_000,
    discount_total: 0,
    tax: 600,
    total,
    refunded_amount: refunded,
    urls: { invoice_url: 'https://app.lemonsqueezy.com/my-orders/104e18a2/subscription-invoice/1' },
    created_at: createdAt,
    updated_at: createdAt,
    test_mode: isTest,
  },
  relationships: {},
  links: { self: `https://api.lemonsqueezy.com/v1/subscription-invoices/${id}` },
});

export const event = (name: string, data: { attributes: { test_mode: boolean } }) => ({
  meta: {
    test_mode: data.attributes.test_mode,
    event_name: name,
    webhook_id: 'b8a1e7c2-90a4-4c9f-8e9b-6a0f7a8d5a11',
    custom_data: {},
  },
  data,
});
