import { gumroad } from '../../../src/stores/provider/gumroad.ts';
import { type GumroadSale, ping, sale, subscriptionPing } from '../bodies/gumroad.ts';
import { openApi } from '../module.ts';
import {
  type Notice,
  OVER_AGAIN_AT,
  RENEWED_AT,
  RESTARTED_AT,
  SOLD_AT,
  type StoreHistory,
  type StoreWorld,
} from './world.ts';

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
  const notify = (fields: Record<string, string>) => {
    const { access } = openApi('token', answersOf(sales));
    const body = asForm(fields);
    const reading = gumroad.read({ body, topic: null });
    const [ask = ''] = (reading.kind === 'facts' && reading.asks) || [];
    notices.push({ body, told: () => gumroad.api!.ask!(access, ask) });
  };
  const changeAll = (isEnded: boolean, fields: Record<string, string>) => {
    sales = sales.map((one) => ({ ...one, isCancelled: isEnded, isEnded }));
    notify(fields);
  };
  const change = (id: string, changes: Partial<GumroadSale>, resource: string) => {
    sales = sales.map((one) => (one.id === id ? { ...one, ...changes } : one));
    notify(
      ping(
        sales.find((one) => one.id === id)!,
        resource,
      ),
    );
  };
  notify(ping(first));
  if (history.isRenewed) {
    sales = [...sales, second];
    notify(ping(second));
  }
  if (history.refund === 'part') change('s1', { isPartlyRefunded: true }, 'refund');
  if (history.refund === 'first') change('s1', { isRefunded: true }, 'refund');
  if (history.refund === 'second') change('s2', { isRefunded: true }, 'refund');
  if (history.dispute !== 'none') change('s1', { isDisputed: true }, 'dispute');
  if (history.dispute === 'won') change('s1', { isDisputeWon: true }, 'dispute_won');
  if (history.isOver) {
    changeAll(true, subscriptionPing('subscription_ended', 'm1', ['s1']));
    if (history.restart) {
      const third = { ...second, id: 's3', order: 3, createdAt: RESTARTED_AT };
      changeAll(false, subscriptionPing('subscription_restarted', 'm1', ['s1']));
      sales = [...sales, third];
      notify(ping(third));
    }
    if (history.restart === 'over again')
      changeAll(true, subscriptionPing('subscription_ended', 'm1', ['s1'], OVER_AGAIN_AT));
  }
  return { notices, key: 'token', answers: answersOf(sales), lacks: ['isPastDue'], canRestart: true };
};
