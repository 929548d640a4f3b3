import { charge, dispute, event, invoice, invoicePayment, session, subscription } from '../bodies/stripe.ts';
import { LATER_AT, NEXT_AT, RENEWED_AT, SOLD_AT, type StoreHistory, type StoreWorld } from './world.ts';

const SUB = 'sub_1';

export const stripeWorld = (history: StoreHistory): StoreWorld => {
  const first = { id: 'in_1', reason: 'subscription_create', createdAt: SOLD_AT, endsAt: RENEWED_AT };
  const renewal = { id: 'in_2', createdAt: RENEWED_AT, endsAt: NEXT_AT };
  const sold = {
    id: 'cs_1',
    mode: 'subscription',
    invoice: 'in_1',
    subscription: SUB,
    link: 'plink_1',
  } as const;
  const events = [
    event('checkout.session.completed', session({ ...sold, createdAt: SOLD_AT })),
    event('invoice.paid', invoice(first)),
    event('invoice_payment.paid', invoicePayment('in_1', 'pi_1')),
  ];
  if (history.isPastDue)
    events.push(
      event('invoice.payment_failed', invoice({ ...renewal, status: 'open' })),
      event('customer.subscription.updated', subscription(SUB, 'past_due', RENEWED_AT)),
    );
  if (history.isRenewed)
    events.push(
      event('invoice.paid', invoice(renewal)),
      event('invoice_payment.paid', invoicePayment('in_2', 'pi_2')),
    );
  if (history.refund === 'part') events.push(event('charge.refunded', charge('ch_1', 'pi_1', 1_200)));
  if (history.refund === 'first')
    events.push(
      event('charge.refunded', charge('ch_1', 'pi_1', 1_200)),
      event('charge.refunded', charge('ch_1', 'pi_1', 3_600)),
    );
  if (history.refund === 'second') events.push(event('charge.refunded', charge('ch_2', 'pi_2', 3_600)));
  if (history.dispute !== 'none')
    events.push(event('charge.dispute.created', dispute('dp_1', 'ch_1', 'pi_1', 'needs_response')));
  if (history.dispute === 'won')
    events.push(event('charge.dispute.closed', dispute('dp_1', 'ch_1', 'pi_1', 'won')));
  if (history.isOver)
    events.push(event('customer.subscription.deleted', subscription(SUB, 'canceled', LATER_AT[4]!)));
  return {
    notices: events.map((body) => ({ body })),
    key: 'rk_live_x',
    answers: { '/v1/events': { data: events.toReversed(), has_more: false } },
  };
};
