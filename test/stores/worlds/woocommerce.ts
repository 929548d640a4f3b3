import { order, subscription } from '../bodies/woocommerce.ts';
import { LATER_AT, type Notice, type StoreHistory, type StoreWorld } from './world.ts';

const bare = (at: string) => at.slice(0, 19);

/** Each body is the object as it was when the body was made, with the time of its last change. */
export const woocommerceWorld = (history: StoreHistory): StoreWorld => {
  const first = { id: 727, status: 'processing' };
  const renewal = { id: 801, status: 'completed', renewalOf: 900, createdVia: 'subscription' };
  const of = { id: 900, order: 727, status: 'active', nextPayment: '2027-02-10T12:00:00' };
  const at = (object: object, modified: string) => ({ ...object, date_modified_gmt: bare(modified) });
  const renewed = (object: object, modified: string) =>
    at(
      { ...object, date_created_gmt: '2027-02-10T12:01:00', date_paid_gmt: '2027-02-10T12:02:00' },
      modified,
    );
  let theFirst = at(order(first), '2027-01-10T12:00:00');
  let theSecond: object | null = null;
  let theSubscription: object = subscription({ ...of, modifiedAt: '2027-01-10T12:00:00' });
  const notices: Notice[] = [
    {
      body: at(order({ ...first, status: 'pending', paidAt: null }), '2027-01-10T11:58:00'),
      topic: 'order.created',
    },
    { body: theFirst, topic: 'order.updated' },
    { body: theSubscription, topic: 'subscription.created' },
  ];
  const update = (body: object, topic = 'order.updated') => {
    notices.push({ body, topic });
    return body;
  };
  theFirst = update(at(order({ ...first, status: 'completed' }), '2027-01-10T12:05:00')) as typeof theFirst;
  if (history.isPastDue)
    theSubscription = update(
      subscription({ ...of, status: 'on-hold', nextPayment: null, modifiedAt: '2027-02-10T12:01:00' }),
      'subscription.updated',
    );
  if (history.isRenewed) {
    theSecond = update(renewed(order(renewal), '2027-02-10T12:02:00'));
    theSubscription = update(
      subscription({ ...of, nextPayment: '2027-03-10T12:00:00', modifiedAt: '2027-02-10T12:03:00' }),
      'subscription.updated',
    );
  }
  const all = { status: 'refunded', refunds: [{ id: 9, total: '-36.00' }] };
  if (history.refund === 'second') theSecond = update(renewed(order({ ...renewal, ...all }), LATER_AT[1]!));
  if (history.refund === 'first')
    theFirst = update(at(order({ ...first, ...all }), LATER_AT[1]!)) as typeof theFirst;
  if (history.refund === 'part') {
    const refunds = [{ id: 9, total: '-36.00' }];
    // One that was a mistake is deleted again, and made anew.
    update(at(order({ ...first, status: 'completed', refunds }), LATER_AT[1]!));
    update(at(order({ ...first, status: 'completed' }), LATER_AT[2]!));
    const part = order({ ...first, status: 'completed', refunds: [{ id: 10, total: '-12.00' }] });
    theFirst = update(at(part, LATER_AT[3]!)) as typeof theFirst;
  }
  if (history.isOver)
    theSubscription = update(
      subscription({ ...of, status: 'cancelled', nextPayment: null, modifiedAt: bare(LATER_AT[4]!) }),
      'subscription.updated',
    );
  return {
    notices,
    key: 'https://ck_a:cs_b@shop.example.com',
    answers: {
      '/wp-json/wc/v3/orders': [theFirst, ...(theSecond ? [theSecond] : [])],
      '/wp-json/wc/v3/subscriptions': [theSubscription],
    },
    lacks: ['dispute'],
  };
};
