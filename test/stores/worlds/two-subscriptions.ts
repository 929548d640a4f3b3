import { fastspring } from '../../../src/stores/provider/fastspring.ts';
import type { StoreProvider } from '../../../src/stores/provider/provider.ts';
import { stripe } from '../../../src/stores/provider/stripe.ts';
import { woocommerce } from '../../../src/stores/provider/woocommerce.ts';
import * as spring from '../bodies/fastspring.ts';
import * as bodies from '../bodies/stripe.ts';
import * as woo from '../bodies/woocommerce.ts';
import { LATER_AT, NEXT_AT, type Notice, RENEWED_AT, SOLD_AT } from './world.ts';

// One order for a month and for a year, at the stores where that is one purchase.

export interface TwoHistory {
  /** What became of the month's first renewal. */
  renewal: 'none' | 'paid' | 'refunded' | 'failed' | 'failed and paid';
  isMonthOver: boolean;
  isYearOver: boolean;
}

const YEAR_AT = '2028-01-10T12:00:00Z';
const ms = Date.parse;
const bare = (at: string) => at.slice(0, 19);
const isPaid = ({ renewal }: TwoHistory) => renewal === 'refunded' || renewal.endsWith('paid');
const hasFailed = ({ renewal }: TwoHistory) => renewal.startsWith('failed');

const ofFastspring = (past: TwoHistory): Notice[] => {
  const of = { begin: ms(SOLD_AT), changed: ms(SOLD_AT) };
  const month = (fields: object = {}) =>
    spring.subscription({ id: 'sub1', product: 'month', next: ms(RENEWED_AT), ...of, ...fields });
  const year = (fields: object = {}) => ({
    ...spring.subscription({ id: 'sub2', product: 'year', next: ms(YEAR_AT), ...of, ...fields }),
    intervalUnit: 'year',
  });
  const order = (product: string, subscription: string) =>
    spring.order({ id: 'o1', changed: ms(SOLD_AT), product, subscription });
  const sold = {
    ...order('month', 'sub1'),
    items: [...order('month', 'sub1').items, ...order('year', 'sub2').items],
  };
  const over = { state: 'deactivated', next: null, changed: ms(LATER_AT[4]!) };
  const renewed = month({ next: ms(NEXT_AT), changed: ms(RENEWED_AT) });
  const second = spring.order({ id: 'o2', changed: ms(RENEWED_AT) });
  const events: spring.SpringEvent[] = [
    { type: 'order.completed', data: sold },
    { type: 'subscription.activated', data: month() },
    { type: 'subscription.activated', data: year() },
  ];
  if (hasFailed(past))
    events.push({
      type: 'subscription.payment.overdue',
      data: month({ state: 'overdue', changed: ms(RENEWED_AT) }),
    });
  if (isPaid(past))
    events.push({
      type: 'subscription.charge.completed',
      data: spring.charge(second, renewed, ms(RENEWED_AT)),
    });
  if (past.renewal === 'refunded')
    events.push({
      type: 'return.created',
      data: spring.returned({ id: 'r1', order: 'o2', changed: ms(LATER_AT[0]!) }),
    });
  if (past.isMonthOver) events.push({ type: 'subscription.deactivated', data: month(over) });
  if (past.isYearOver) events.push({ type: 'subscription.deactivated', data: year(over) });
  return events.map((one) => ({ body: spring.body([one]) }));
};

const ofWoocommerce = (past: TwoHistory): Notice[] => {
  const items = (product: number) => woo.order({ id: 727, status: 'completed', product }).line_items;
  const order = { ...woo.order({ id: 727, status: 'completed' }), line_items: [...items(51), ...items(52)] };
  const month = (fields: Partial<woo.WooSubscription> = {}) =>
    woo.subscription({
      id: 900,
      order: 727,
      status: 'active',
      product: 51,
      nextPayment: bare(RENEWED_AT),
      modifiedAt: bare(SOLD_AT),
      ...fields,
    });
  const year = (fields: Partial<woo.WooSubscription> = {}) => ({
    ...month({ id: 901, product: 52, nextPayment: bare(YEAR_AT), ...fields }),
    billing_period: 'year',
  });
  const renewal = (changes: Partial<woo.WooOrder>, modifiedAt: string) => ({
    ...woo.order({ id: 801, status: 'completed', renewalOf: 900, paidAt: '2027-02-10T12:02:00', ...changes }),
    date_created_gmt: '2027-02-10T12:01:00',
    date_modified_gmt: bare(modifiedAt),
  });
  const over = { status: 'cancelled', nextPayment: null, modifiedAt: bare(LATER_AT[4]!) };
  const subscriptions = [month(), year()];
  if (hasFailed(past))
    subscriptions.push(month({ status: 'on-hold', nextPayment: null, modifiedAt: bare(RENEWED_AT) }));
  if (isPaid(past))
    subscriptions.push(month({ nextPayment: bare(NEXT_AT), modifiedAt: '2027-02-10T12:03:00' }));
  if (past.isMonthOver) subscriptions.push(month(over));
  if (past.isYearOver) subscriptions.push(year(over));
  const all = { status: 'refunded', refunds: [{ id: 9, total: '-36.00' }] };
  const orders = [
    order,
    ...(isPaid(past) ? [renewal({}, '2027-02-10T12:02:00')] : []),
    ...(past.renewal === 'refunded' ? [renewal(all, LATER_AT[0]!)] : []),
  ];
  return [
    ...orders.map((body) => ({ body, topic: 'order.updated' })),
    ...subscriptions.map((body) => ({ body, topic: 'subscription.updated' })),
  ];
};

/** At Stripe, both are items of one subscription, which is over as a whole. */
const ofStripe = (past: TwoHistory): Notice[] => {
  const sold = { id: 'in_1', reason: 'subscription_create', createdAt: SOLD_AT };
  const month = bodies.invoice({ ...sold, endsAt: RENEWED_AT, price: 'month' });
  const year = bodies.invoice({ ...sold, endsAt: YEAR_AT, price: 'year', product: 'prod_2' });
  const first = { ...month, lines: { ...month.lines, data: [...month.lines.data, ...year.lines.data] } };
  const renewal = { id: 'in_2', createdAt: RENEWED_AT, endsAt: NEXT_AT, price: 'month' };
  const events = [
    bodies.event('invoice.paid', first),
    ...(hasFailed(past)
      ? [bodies.event('invoice.payment_failed', bodies.invoice({ ...renewal, status: 'open' }))]
      : []),
    ...(isPaid(past)
      ? [
          bodies.event('invoice.paid', bodies.invoice(renewal)),
          bodies.event('invoice_payment.paid', bodies.invoicePayment('in_2', 'pi_2')),
        ]
      : []),
    ...(past.renewal === 'refunded'
      ? [bodies.event('charge.refunded', bodies.charge('ch_2', 'pi_2', 3_600))]
      : []),
    ...(past.isMonthOver && past.isYearOver
      ? [
          bodies.event(
            'customer.subscription.deleted',
            bodies.subscription('sub_1', 'canceled', LATER_AT[4]!),
          ),
        ]
      : []),
  ];
  return events.map((body) => ({ body }));
};

interface TwoWorld {
  provider: StoreProvider;
  notices: (past: TwoHistory) => Notice[];
  /** What the store calls what was bought. */
  refs: { month: string; year: string };
  endsAsWhole?: true;
}

const PRODUCTS = { month: 'month', year: 'year' };

export const TWO_WORLDS: Record<'fastspring' | 'woocommerce' | 'stripe', TwoWorld> = {
  fastspring: { provider: fastspring, notices: ofFastspring, refs: PRODUCTS },
  woocommerce: { provider: woocommerce, notices: ofWoocommerce, refs: { month: '51', year: '52' } },
  stripe: { provider: stripe, notices: ofStripe, refs: PRODUCTS, endsAsWhole: true },
};

/** What a history makes of the purchase and of both licenses, by its own words. */
export const expectedOfTwo = (past: TwoHistory, { endsAsWhole }: TwoWorld) => {
  const isOver = past.isMonthOver && past.isYearOver;
  const graceOf = (ofOne: boolean) => ((endsAsWhole ? isOver : ofOne) ? 0 : 7);
  const isMonthPaid = isPaid(past) && past.renewal !== 'refunded';
  const isDue = past.renewal === 'failed' && (endsAsWhole === true || !past.isMonthOver);
  return {
    status: isOver ? 'ended' : isDue ? 'past_due' : 'fulfilled',
    month: [isMonthPaid ? '2027-03-10' : '2027-02-10', graceOf(past.isMonthOver)],
    year: ['2028-01-10', graceOf(past.isYearOver)],
  };
};
