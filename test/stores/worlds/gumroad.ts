import { gumroad } from '../../../src/stores/provider/gumroad.ts';
import { type GumroadSale, ping, sale, subscriptionPing } from '../bodies/gumroad.ts';
import { openApi } from '../module.ts';
import { type Notice, RENEWED_AT, SOLD_AT, type StoreHistory, type StoreWorld } from './world.ts';

const asForm = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

/** A ping says only which sale to ask about, and the answer is what the sale is at that time. */
export const gumroadWorld = (history: StoreHistory): StoreWorld => {
  const first: GumroadSale = { id: 's1', order: 1, subscription: 'm1', createdAt: SOLD_AT };
  const second: GumroadSale = {
    ...first,
    id: 's2',
    order: 2,
    createdAt: RENEWED_AT,
    isRecurringCharge: true,
  };
  let sales = [first];
  const notices: Notice[] = [];
  const answersOf = (known: GumroadSale[]) => ({
    '/v2/sales?': { success: true, sales: known.toReversed().map(sale) },
    ...Object.fromEntries(known.map((one) => [`/v2/sales/${one.id}`, { success: true, sale: sale(one) }])),
  });
  const notify = (fields: Record<string, string>, about: string) => {
    const { access } = openApi('token', answersOf(sales));
    notices.push({ body: asForm(fields), told: () => gumroad.api!.ask!(access, `sale/${about}`) });
  };
  const change = (id: string, changes: Partial<GumroadSale>, resource: string) => {
    sales = sales.map((one) => (one.id === id ? { ...one, ...changes } : one));
    notify(
      ping(
        sales.find((one) => one.id === id)!,
        resource,
      ),
      id,
    );
  };
  notify(ping(first), 's1');
  if (history.isRenewed) {
    sales = [...sales, second];
    notify(ping(second), 's2');
  }
  if (history.refund === 'part') change('s1', { isPartlyRefunded: true }, 'refund');
  if (history.refund === 'first') change('s1', { isRefunded: true }, 'refund');
  if (history.refund === 'second') change('s2', { isRefunded: true }, 'refund');
  if (history.dispute !== 'none') change('s1', { isDisputed: true }, 'dispute');
  if (history.dispute === 'won') change('s1', { isDisputeWon: true }, 'dispute_won');
  if (history.isOver) {
    sales = sales.map((one) => ({ ...one, isCancelled: true, isEnded: true }));
    notify(subscriptionPing('subscription_ended', 'm1', ['s1']), 's1');
  }
  return { notices, key: 'token', answers: answersOf(sales), lacks: ['isPastDue'] };
};
