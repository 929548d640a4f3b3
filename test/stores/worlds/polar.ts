import { event, fullSubscription, order, subscription } from '../bodies/polar.ts';
import { LATER_AT, NEXT_AT, RENEWED_AT, SOLD_AT, type StoreHistory, type StoreWorld } from './world.ts';

const page = (items: object[]) => ({ items, pagination: { total_count: items.length, max_page: 1 } });

export const polarWorld = (history: StoreHistory): StoreWorld => {
  const of = { id: 'sub-1', start: SOLD_AT, end: RENEWED_AT };
  const moved = { ...of, start: RENEWED_AT, end: NEXT_AT };
  const now = history.isRenewed || history.isPastDue ? moved : of;
  const first = { id: 'order-1', reason: 'subscription_create', createdAt: SOLD_AT } as const;
  const renewal = { id: 'order-2', reason: 'subscription_cycle', createdAt: '2027-02-10T12:03:00Z' } as const;
  const bodies: object[] = [
    event('order.paid', order({ ...first, subscription: subscription(of) })),
    event('subscription.active', fullSubscription(of)),
  ];
  const pending = order({ ...renewal, status: 'pending', subscription: subscription(moved) });
  if (history.isPastDue)
    bodies.push(
      event('order.created', pending),
      event('subscription.past_due', fullSubscription({ ...moved, status: 'past_due' })),
    );
  if (history.isRenewed)
    bodies.push(
      event('order.paid', order({ ...renewal, subscription: subscription(moved) })),
      event('subscription.updated', fullSubscription(moved)),
    );
  const changeOf = (isAll: boolean) =>
    isAll
      ? { status: 'refunded', refunded: 3_000, refundedTax: 600 }
      : { status: 'partially_refunded', refunded: 1_000, refundedTax: 200 };
  const firstChange =
    history.refund === 'part' || history.refund === 'first' ? changeOf(history.refund === 'first') : {};
  const secondChange = history.refund === 'second' ? changeOf(true) : {};
  const theFirst = order({ ...first, ...firstChange, subscription: subscription(now) });
  const theSecond = order({ ...renewal, ...secondChange, subscription: subscription(now) });
  if (history.refund !== 'none')
    bodies.push(event('order.refunded', history.refund === 'second' ? theSecond : theFirst));
  const status = history.isOver
    ? 'canceled'
    : history.isPastDue && !history.isRenewed
      ? 'past_due'
      : 'active';
  const theSubscription = fullSubscription({ ...now, status, endedAt: history.isOver ? LATER_AT[4]! : null });
  if (history.isOver) bodies.push(event('subscription.revoked', theSubscription));
  const orders = [theFirst, ...(history.isRenewed ? [theSecond] : history.isPastDue ? [pending] : [])];
  return {
    notices: bodies.map((body) => ({ body })),
    key: 'polar_oat_x',
    answers: {
      '/v1/orders/?': page(orders.toReversed()),
      '/v1/refunds/': page([]),
      '/v1/subscriptions/': page([theSubscription]),
    },
    lacks: ['dispute'],
  };
};
