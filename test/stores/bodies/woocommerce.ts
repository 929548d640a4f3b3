// What WooCommerce sends, in the form of its documentation, with values of our own. The body is the order as it is now.

export interface WooOrder {
  id: number;
  number?: string;
  status: string;
  total?: string;
  product?: number;
  variation?: number;
  quantity?: number;
  refunds?: { id: number; total: string }[];
  paidAt?: string | null;
  createdVia?: string;
  /** The subscription whose renewal it is, for the extension WooCommerce Subscriptions. */
  renewalOf?: number;
  /** The subscription that was switched to another product, or another number of it, of the same extension. */
  switchOf?: number;
  parentOf?: number;
  email?: string;
}

export const order = ({
  id,
  number = String(id),
  status,
  total = '36.00',
  product = 51,
  variation = 0,
  quantity = 1,
  refunds = [],
  paidAt = '2027-01-10T12:00:00',
  createdVia = 'checkout',
  renewalOf,
  switchOf,
  email = 'ada@example.com',
}: WooOrder) => ({
  id,
  parent_id: 0,
  status,
  currency: 'USD',
  version: '10.4.0',
  prices_include_tax: false,
  date_created: '2027-01-10T12:58:00',
  date_created_gmt: '2027-01-10T11:58:00',
  date_modified: '2027-01-10T13:00:00',
  date_modified_gmt: '2027-01-10T12:00:00',
  discount_total: '0.00',
  shipping_total: '0.00',
  total,
  total_tax: '6.00',
  customer_id: 26,
  order_key: `wc_order_${id}`,
  billing: { first_name: 'Ada', last_name: 'Byron', company: '', country: 'GB', email, phone: '' },
  payment_method: 'stripe',
  payment_method_title: 'Card',
  transaction_id: `ch_${id}`,
  created_via: createdVia,
  customer_note: '',
  date_completed: paidAt,
  date_completed_gmt: paidAt,
  date_paid: paidAt,
  date_paid_gmt: paidAt,
  cart_hash: '',
  number,
  meta_data: [
    { id: 1, key: '_wc_order_attribution_source_type', value: 'typein' },
    ...(renewalOf === undefined ? [] : [{ id: 2, key: '_subscription_renewal', value: String(renewalOf) }]),
    ...(switchOf === undefined ? [] : [{ id: 3, key: '_subscription_switch', value: String(switchOf) }]),
  ],
  line_items: [
    {
      id: id * 10,
      name: 'Orrery',
      product_id: product,
      variation_id: variation,
      quantity,
      subtotal: '30.00',
      total: '30.00',
      total_tax: '6.00',
      sku: 'ORRERY',
      price: 30,
    },
  ],
  tax_lines: [],
  shipping_lines: [],
  fee_lines: [],
  coupon_lines: [],
  refunds: refunds.map((refund) => ({ ...refund, reason: '' })),
});

export interface WooSubscription {
  id: number;
  order: number;
  status: string;
  nextPayment: string | null;
  endsAt?: string | null;
  product?: number;
  modifiedAt: string;
}

/** Of the extension WooCommerce Subscriptions. */
export const subscription = ({
  id,
  order: parent,
  status,
  nextPayment,
  endsAt = null,
  product = 51,
  modifiedAt,
}: WooSubscription) => ({
  ...order({ id, status, product }),
  parent_id: parent,
  billing_period: 'month',
  billing_interval: '1',
  start_date_gmt: '2027-01-10T12:00:00',
  trial_end_date_gmt: '',
  next_payment_date_gmt: nextPayment ?? '',
  cancelled_date_gmt: '',
  end_date_gmt: endsAt ?? '',
  date_modified_gmt: modifiedAt,
});

/** A deleted order is no more than its id. */
export const deleted = (id: number) => ({ id });
