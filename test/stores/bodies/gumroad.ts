// What Gumroad's ping posts and what its API answers, in the form of its documentation and sources, with values of our own.

export interface GumroadSale {
  id: string;
  order?: number;
  product?: string;
  permalink?: string;
  email?: string;
  quantity?: number;
  price?: number;
  createdAt: string;
  subscription?: string;
  recurrence?: string;
  isRecurringCharge?: boolean;
  isTest?: boolean;
  isRefunded?: boolean;
  isPartlyRefunded?: boolean;
  isDisputed?: boolean;
  isDisputeWon?: boolean;
  isCancelled?: boolean;
  isEnded?: boolean;
}

/** The form of a ping. `resource` is what was registered for, with `resource_subscriptions`. */
export const ping = (sale: GumroadSale, resource = 'sale'): Record<string, string> => ({
  seller_id: 'n8VmeTbB6N9W7UQYRQGsLA==',
  product_id: sale.product ?? 'pTqRuNPmZhkXbbMJ8jp8yg==',
  product_name: 'Orrery',
  permalink: sale.permalink ?? 'orrery',
  product_permalink: `https://ada.gumroad.com/l/${sale.permalink ?? 'orrery'}`,
  short_product_id: 'zxcvb',
  email: sale.email ?? 'ada@example.com',
  price: String(sale.price ?? 3_600),
  gumroad_fee: '360',
  currency: 'usd',
  quantity: String(sale.quantity ?? 1),
  discover_fee_charged: 'false',
  can_contact: 'true',
  referrer: 'direct',
  'card[visual]': '**** **** **** 4242',
  'card[type]': 'visa',
  order_number: String(sale.order ?? 524_459_935),
  sale_id: sale.id,
  sale_timestamp: sale.createdAt,
  full_name: 'Ada Byron',
  ...(sale.subscription !== undefined && {
    subscription_id: sale.subscription,
    recurrence: sale.recurrence ?? 'monthly',
    ...(sale.isRecurringCharge && { is_recurring_charge: 'true' }),
  }),
  ...(sale.isTest && { test: 'true' }),
  refunded: String(sale.isRefunded ?? false),
  resource_name: resource,
  disputed: String(sale.isDisputed ?? false),
  dispute_won: String(sale.isDisputeWon ?? false),
});

/** The form of what becomes of a subscription. It names no single sale. */
export const subscriptionPing = (
  resource: 'cancellation' | 'subscription_ended' | 'subscription_restarted',
  subscription: string,
  sales: string[],
  endedAt = '2027-03-10T12:00:00Z',
): Record<string, string> => ({
  subscription_id: subscription,
  product_id: 'pTqRuNPmZhkXbbMJ8jp8yg==',
  product_name: 'Orrery',
  user_id: '5900000000001',
  user_email: 'ada@example.com',
  ...Object.fromEntries(sales.map((id, i) => [`purchase_ids[${i}]`, id])),
  created_at: '2027-01-10T12:00:00Z',
  charge_occurrence_count: '',
  recurrence: 'monthly',
  free_trial_ends_at: '',
  resource_name: resource,
  ...(resource === 'cancellation' && {
    cancelled: 'true',
    cancelled_at: '2027-02-01T00:00:00Z',
    cancelled_by_buyer: 'true',
  }),
  ...(resource === 'subscription_ended' && { ended_at: endedAt, ended_reason: 'cancelled' }),
});

/** The sale as the API answers it, which is as it is now. */
export const sale = (input: GumroadSale) => ({
  id: input.id,
  email: input.email ?? 'ada@example.com',
  seller_id: 'n8VmeTbB6N9W7UQYRQGsLA==',
  timestamp: 'about 1 month ago',
  daystamp: '10 Jan 2027 12:00 PM',
  created_at: input.createdAt,
  product_name: 'Orrery',
  product_has_variants: false,
  price: input.price ?? 3_600,
  gumroad_fee: 360,
  currency: 'usd',
  product_id: input.product ?? 'pTqRuNPmZhkXbbMJ8jp8yg==',
  product_permalink: input.permalink ?? 'orrery',
  refunded: input.isRefunded ?? false,
  partially_refunded: input.isPartlyRefunded ?? false,
  chargedback: (input.isDisputed ?? false) && !(input.isDisputeWon ?? false),
  purchase_email: input.email ?? 'ada@example.com',
  full_name: 'Ada Byron',
  paid: true,
  order_id: input.order ?? 524_459_935,
  is_recurring_billing: input.subscription !== undefined,
  disputed: input.isDisputed ?? false,
  dispute_won: input.isDisputeWon ?? false,
  ...(input.subscription !== undefined && {
    subscription_id: input.subscription,
    subscription_duration: input.recurrence ?? 'monthly',
    cancelled: input.isCancelled ?? false,
    dead: input.isEnded ?? false,
    ended: input.isEnded ?? false,
    recurring_charge: input.isRecurringCharge ?? false,
  }),
  quantity: input.quantity ?? 1,
});
