import { NEXT_AT, RENEWED_AT, type StoreHistory, type StoreWorld } from './world.ts';

/** A shop of the seller's own names no payments: a period is known by its end, and an order by its number. */
export const genericWorld = (history: StoreHistory): StoreWorld => {
  const order = { order: 'R-1', currency: 'usd' };
  const first = { ...order, period_end: RENEWED_AT };
  const renewal = { ...order, period_end: NEXT_AT };
  const buyer = { offer: 'orrery', email: 'ada@example.com', name: 'Ada Byron' };
  const bodies: object[] = [{ type: 'paid', ...first, ...buyer, amount: 3_600 }];
  if (history.isPastDue) bodies.push({ type: 'past_due', ...renewal });
  if (history.isRenewed) bodies.push({ type: 'renewed', ...renewal, amount: 3_600 });
  if (history.refund === 'part') bodies.push({ type: 'refunded', ...first, amount: 1_200 });
  if (history.refund === 'first') bodies.push({ type: 'refunded', ...first });
  if (history.refund === 'second') bodies.push({ type: 'refunded', ...renewal });
  if (history.dispute !== 'none') bodies.push({ type: 'disputed', ...order });
  if (history.dispute === 'won') bodies.push({ type: 'dispute_won', ...order });
  if (history.isOver) bodies.push({ type: 'ended', ...order });
  return {
    notices: bodies.map((body, i) => ({ body: { id: `n${i + 1}`, ...body } })),
    key: '',
    answers: {},
  };
};
