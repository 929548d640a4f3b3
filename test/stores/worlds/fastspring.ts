import { body, charge, order, returned, type SpringEvent, subscription } from '../bodies/fastspring.ts';
import { LATER_AT, NEXT_AT, RENEWED_AT, SOLD_AT, type StoreHistory, type StoreWorld } from './world.ts';

const [sold, renewed, next] = [SOLD_AT, RENEWED_AT, NEXT_AT].map(Date.parse) as [number, number, number];
const at = (i: number) => Date.parse(LATER_AT[i]!);

export const fastspringWorld = (history: StoreHistory): StoreWorld => {
  const of = { id: 'sub1', begin: sold, next: renewed, changed: sold };
  const moved = subscription({ ...of, next, changed: at(0) });
  const events: SpringEvent[] = [
    { type: 'order.completed', data: order({ id: 'o1', changed: sold, subscription: 'sub1' }) },
    { type: 'subscription.activated', data: subscription(of) },
  ];
  if (history.isPastDue)
    events.push({
      type: 'subscription.payment.overdue',
      data: subscription({ ...of, state: 'overdue', changed: renewed }),
    });
  if (history.isRenewed)
    events.push({
      type: 'subscription.charge.completed',
      data: charge(order({ id: 'o2', changed: renewed }), moved, renewed),
    });
  const part = history.refund === 'part' && { returned: 12 };
  if (history.refund !== 'none')
    events.push({
      type: 'return.created',
      data: returned({ id: 'r1', order: history.refund === 'second' ? 'o2' : 'o1', changed: at(1), ...part }),
    });
  if (history.isOver)
    events.push({
      type: 'subscription.deactivated',
      data: subscription({ ...of, state: 'deactivated', next: null, changed: at(4) }),
    });
  const all = body(events).events;
  return {
    // Two in one body, as often as not.
    notices: [
      { body: { events: all.slice(0, 2) } },
      ...all.slice(2).map((one) => ({ body: { events: [one] } })),
    ],
    key: 'user:secret',
    answers: {
      '/events/processed': { events: all.slice(0, 3) },
      '/events/unprocessed': { events: all.slice(3) },
    },
    lacks: ['dispute'],
  };
};
