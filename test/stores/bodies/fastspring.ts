// What FastSpring sends, in the form of its documentation, with values of our own. Accounts, orders, and subscriptions inside of
// an event are ids, or objects if the seller has enabled the expansion.

export interface SpringOrder {
  id: string;
  reference?: string;
  product?: string;
  quantity?: number;
  total?: number;
  subscription?: string | object | null;
  account?: string | object;
  changed: number;
  isLive?: boolean;
  isCompleted?: boolean;
}

export const account = (id = 'acctAbCdEfG123') => ({
  id,
  account: id,
  contact: { first: 'Ada', last: 'Byron', email: 'ada@example.com', company: null, phone: null },
  language: 'en',
  country: 'GB',
  url: 'https://orrery.onfastspring.com/account',
});

export const order = ({
  id,
  reference = 'ORR270110-1000-11111',
  product = 'orrery-pro',
  quantity = 1,
  total = 36,
  subscription: of = null,
  account: owner = 'acctAbCdEfG123',
  changed,
  isLive = true,
  isCompleted = true,
}: SpringOrder) => ({
  order: id,
  id,
  reference,
  buyerReference: null,
  completed: isCompleted,
  changed,
  changedInSeconds: Math.floor(changed / 1_000),
  language: 'en',
  live: isLive,
  currency: 'USD',
  payoutCurrency: 'USD',
  total,
  totalDisplay: `$${total}`,
  tax: 6,
  subtotal: 30,
  discount: 0,
  payment: { type: 'card', cardEnding: '4242' },
  customer: { first: 'Ada', last: 'Byron', email: 'ada@example.com', company: null, phone: null },
  account: owner,
  items: [
    {
      product,
      quantity,
      display: 'Orrery Pro',
      sku: null,
      subtotal: 30,
      discount: 0,
      ...(of !== null && { subscription: of }),
      fulfillments: {},
    },
  ],
});

export interface SpringSubscription {
  id: string;
  product?: string;
  quantity?: number;
  next: number | null;
  begin: number;
  state?: string;
  end?: number | null;
  account?: string | object;
  changed: number;
  isLive?: boolean;
  initialOrder?: string;
}

export const subscription = ({
  id,
  product = 'orrery-pro',
  quantity = 1,
  next,
  begin,
  state = 'active',
  end = null,
  account: owner = 'acctAbCdEfG123',
  changed,
  isLive = true,
  initialOrder,
}: SpringSubscription) => ({
  id,
  subscription: id,
  quote: null,
  active: state !== 'deactivated',
  state,
  changed,
  live: isLive,
  currency: 'USD',
  account: owner,
  product,
  sku: null,
  display: 'Orrery Pro',
  quantity,
  adhoc: false,
  autoRenew: true,
  price: 30,
  next,
  nextInSeconds: next === null ? null : Math.floor(next / 1_000),
  end,
  canceledDate: state === 'canceled' ? changed : null,
  deactivationDate: end,
  sequence: 1,
  periods: null,
  remainingPeriods: null,
  begin,
  intervalUnit: 'month',
  intervalLength: 1,
  nextChargeCurrency: 'USD',
  nextChargeDate: next,
  nextChargeTotal: 36,
  ...(initialOrder !== undefined && { initialOrderId: initialOrder }),
});

/** A rebill. `order` and `subscription` are ids or objects. */
export const charge = (order_: string | object, subscription_: string | object, timestamp: number) => ({
  order: order_,
  currency: 'USD',
  total: 36,
  status: 'successful',
  timestamp,
  timestampInSeconds: Math.floor(timestamp / 1_000),
  sequence: 2,
  periods: null,
  quote: null,
  account: 'acctAbCdEfG123',
  subscription: subscription_,
});

export interface SpringReturn {
  id: string;
  order: string;
  total?: number;
  returned?: number;
  reason?: string;
  changed: number;
  isLive?: boolean;
}

export const returned = ({
  id,
  order: of,
  total = 36,
  returned: amount = total,
  reason = 'Not needed',
  changed,
  isLive = true,
}: SpringReturn) => ({
  return: id,
  quote: null,
  reference: `${id}-R`,
  completed: true,
  changed,
  live: isLive,
  account: 'acctAbCdEfG123',
  currency: 'USD',
  totalReturn: amount,
  tax: 6,
  subtotal: 30,
  original: {
    id: of,
    order: of,
    reference: 'ORR270110-1000-11111',
    account: 'acctAbCdEfG123',
    currency: 'USD',
    total,
    tax: 6,
    subtotal: 30,
  },
  customer: { first: 'Ada', last: 'Byron', email: 'ada@example.com' },
  items: [{ return: id, product: 'orrery-pro', quantity: 1, subtotal: 30 }],
  reason,
  note: null,
  type: 'RETURN',
});

export interface SpringEvent {
  type: string;
  data: object;
}

let lastEvent = 0;

/** Many events come in one body. Each has an id of its own, which a repeat by hand changes. */
export const body = (events: SpringEvent[], isLive = true) => ({
  events: events.map(({ type, data }) => ({
    id: `evt${++lastEvent}`,
    processed: false,
    created: 1_799_582_400_000 + lastEvent,
    type,
    live: isLive,
    data,
  })),
});
