import { adjustment, customer, event, subscription, transaction } from '../bodies/paddle.ts';
import { LATER_AT, NEXT_AT, RENEWED_AT, SOLD_AT, type StoreHistory, type StoreWorld } from './world.ts';

const SUB = 'sub_01';
const FIRST = { starts_at: SOLD_AT, ends_at: RENEWED_AT };
const SECOND = { starts_at: RENEWED_AT, ends_at: NEXT_AT };

export const paddleWorld = (history: StoreHistory): StoreWorld => {
  const sold = { id: 'txn_01', period: FIRST, createdAt: SOLD_AT };
  const renewal = { id: 'txn_02', subscription: SUB, period: SECOND, createdAt: RENEWED_AT };
  const later = (data: object, at: string) => ({ ...data, updated_at: at });
  const sent: [type: string, data: object][] = [
    ['customer.created', customer()],
    // As soon as it is paid, and before there is a subscription.
    ['transaction.paid', transaction({ ...sold, status: 'paid' })],
    ['transaction.completed', later(transaction({ ...sold, subscription: SUB }), '2027-01-10T12:00:05Z')],
    [
      'subscription.created',
      subscription({ id: SUB, status: 'active', updatedAt: SOLD_AT, transaction: sold.id }),
    ],
  ];
  if (history.isPastDue)
    sent.push(
      ['transaction.past_due', transaction({ ...renewal, status: 'past_due' })],
      [
        'subscription.past_due',
        subscription({ id: SUB, status: 'past_due', updatedAt: RENEWED_AT, period: SECOND }),
      ],
    );
  if (history.isRenewed) sent.push(['transaction.completed', later(transaction(renewal), LATER_AT[0]!)]);
  if (history.refund !== 'none') {
    const refund = {
      id: 'adj_01',
      action: 'refund',
      transaction: history.refund === 'second' ? renewal.id : sold.id,
      subscription: SUB,
      createdAt: LATER_AT[1]!,
      ...(history.refund === 'part' && { type: 'partial' as const, total: '1200' }),
    };
    sent.push(
      ['adjustment.created', adjustment({ ...refund, status: 'pending_approval' })],
      ['adjustment.updated', later(adjustment(refund), LATER_AT[2]!)],
    );
  }
  const dispute = { transaction: sold.id, subscription: SUB, createdAt: LATER_AT[3]! };
  if (history.dispute !== 'none')
    sent.push(['adjustment.created', adjustment({ ...dispute, id: 'adj_02', action: 'chargeback' })]);
  if (history.dispute === 'won')
    sent.push(['adjustment.created', adjustment({ ...dispute, id: 'adj_03', action: 'chargeback_reverse' })]);
  if (history.isOver)
    sent.push([
      'subscription.canceled',
      subscription({ id: SUB, status: 'canceled', updatedAt: LATER_AT[4]!, canceledAt: LATER_AT[4]! }),
    ]);
  const events = sent.map(([type, data]) => event(type, data, LATER_AT[4]));
  return {
    notices: events.map((body) => ({ body })),
    key: 'pdl_live_apikey_x',
    answers: {
      '/events': { data: events.toReversed(), meta: { pagination: { has_more: false } } },
      '/customers/': { data: customer() },
    },
  };
};
