import { event, invoice, order, subscription } from '../bodies/lemonsqueezy.ts';
import { LATER_AT, NEXT_AT, RENEWED_AT, SOLD_AT, type StoreHistory, type StoreWorld } from './world.ts';

const page = (data: object[]) => ({ data, meta: { page: { currentPage: 1, lastPage: 1 } } });

export const lemonsqueezyWorld = (history: StoreHistory): StoreWorld => {
  const sold = { id: '1', createdAt: SOLD_AT };
  const of = { id: '5', order: '1', createdAt: SOLD_AT };
  const first = { id: '8', subscription: '5', reason: 'initial', createdAt: SOLD_AT } as const;
  const renewal = { id: '9', subscription: '5', createdAt: RENEWED_AT };
  let theOrder = order(sold);
  let theSubscription = subscription({ ...of, updatedAt: SOLD_AT, renewsAt: RENEWED_AT });
  const invoices = [invoice(first)];
  const bodies: object[] = [
    event('order_created', theOrder),
    event('subscription_created', theSubscription),
    event('subscription_payment_success', invoices[0]!),
  ];
  if (history.isPastDue) {
    invoices[1] = invoice({ ...renewal, status: 'pending' });
    theSubscription = subscription({
      ...of,
      updatedAt: RENEWED_AT,
      status: 'past_due',
      renewsAt: LATER_AT[0]!,
    });
    bodies.push(
      event('subscription_payment_failed', invoices[1]),
      event('subscription_updated', theSubscription),
    );
  }
  if (history.isRenewed) {
    invoices[1] = invoice(renewal);
    theSubscription = subscription({ ...of, updatedAt: LATER_AT[0]!, renewsAt: NEXT_AT });
    bodies.push(
      event('subscription_payment_success', invoices[1]),
      event('subscription_updated', theSubscription),
    );
  }
  if (history.refund === 'second') {
    invoices[1] = invoice({ ...renewal, status: 'refunded', refunded: 3_600 });
    bodies.push(event('subscription_payment_refunded', invoices[1]));
  } else if (history.refund !== 'none') {
    const change =
      history.refund === 'first'
        ? { status: 'refunded', refunded: 3_600 }
        : { status: 'partial_refund', refunded: 1_200 };
    theOrder = order({ ...sold, ...change });
    invoices[0] = invoice({ ...first, ...change });
    bodies.push(event('order_refunded', theOrder));
  }
  if (history.isOver) {
    theSubscription = subscription({
      ...of,
      status: 'expired',
      updatedAt: LATER_AT[4]!,
      renewsAt: LATER_AT[4]!,
      // The end of what is paid, or of the attempts to charge for more.
      endsAt: history.isRenewed ? NEXT_AT : history.isPastDue ? LATER_AT[4]! : RENEWED_AT,
    });
    bodies.push(event('subscription_expired', theSubscription));
  }
  return {
    notices: bodies.map((body) => ({ body })),
    key: 'key',
    answers: {
      '/v1/orders': page([theOrder]),
      '/v1/subscription-invoices': page(invoices.toReversed()),
      '/v1/subscriptions': page([theSubscription]),
    },
    lacks: ['dispute'],
  };
};
