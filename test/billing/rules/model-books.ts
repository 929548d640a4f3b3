import type { BillingEvent, Books } from '../../../src/billing/rules/books.ts';
import { isSettled, paidBy } from '../../../src/billing/rules/books.ts';
import { decide } from '../../../src/billing/rules/decide.ts';
import { type Fact, toFactNames } from '../../../src/billing/rules/fact.ts';
import { isPaidInFull } from '../../../src/billing/rules/standing.ts';
import type { PaymentRow, SubscriptionRow } from '../../../src/db/schema.ts';
import type { openStripe } from './model-stripe.ts';
import { AMOUNTS } from './model-stripe.ts';

// The rows of one account, on which the decisions of the service are applied as its database does.

const put = <T extends { id: string }>(rows: T[], next: T) => {
  const at = rows.findIndex(({ id }) => id === next.id);
  if (at === -1) rows.push(next);
  else rows[at] = next;
};

export const openBooks = (stripe: ReturnType<typeof openStripe>, nowMs: () => number) => {
  const payments: PaymentRow[] = [];
  const subscriptions: SubscriptionRow[] = [];
  const events: BillingEvent[] = [];
  const applied = new Set<string>();
  const live = () => subscriptions.find(({ status }) => status !== 'ended') ?? null;

  const load = (fact: Fact): Books => {
    const subscription =
      subscriptions.find(({ providerRef }) => providerRef === fact.subscriptionRef) ?? null;
    const invoiceRef =
      fact.kind === 'terms' ? fact.failingRef : fact.kind === 'ended' ? null : fact.invoiceRef;
    const invoiced = payments.find(({ checkoutRef }) => invoiceRef !== null && checkoutRef === invoiceRef);
    const paymentId = 'paymentId' in fact ? fact.paymentId : null;
    const named = payments.find(({ id }) => id === paymentId) ?? null;
    const periods = [subscription, live()];
    return {
      nowMs: nowMs(),
      isLeaving: false,
      provider: 'stripe',
      live: live(),
      subscription,
      payment: fact.kind === 'bought' ? named : (invoiced ?? paidBy(invoiceRef, named)),
      current: payments.filter((row) =>
        periods.some(
          (period) =>
            isSettled(row) &&
            period?.id === row.subscriptionId &&
            (row.periodEnd ?? 0) >= (period?.periodEnd ?? 0),
        ),
      ),
      change:
        payments.find((row) => row.status === 'pending' && row.subscriptionId === subscription?.id) ?? null,
    };
  };

  const giveBack = ({ id, checkoutRef, subscriptionId, amount, currency, periodEnd }: PaymentRow) => {
    stripe.refund(checkoutRef!);
    const subscriptionRef = subscriptions.find((row) => row.id === subscriptionId)!.providerRef;
    const about = { paymentId: id, subscriptionRef, invoiceRef: checkoutRef!, currency };
    apply({ kind: 'refunded', ...about, amount, untilMs: periodEnd ?? 0 });
  };

  const apply = (fact: Fact): void => {
    const names = toFactNames('stripe', fact);
    if (names.some((name) => applied.has(name))) return;
    const decision = decide(load(fact), fact);
    const known = subscriptions.find(({ providerRef }) => providerRef === fact.subscriptionRef);
    if (!decision && fact.kind === 'terms' && known)
      put(subscriptions, { ...known, readAt: Math.max(known.readAt, fact.readAtMs) });
    if (!decision) return;
    decision.cancels.forEach(stripe.cancel);
    for (const row of decision.payments) put(payments, row);
    for (const row of decision.subscriptions) put(subscriptions, row);
    events.push(...decision.events);
    applied.add(names[0]);
    for (const row of decision.payments) if (row.refundDueAt !== null) giveBack(row);
  };

  return {
    payments,
    subscriptions,
    events,
    live,
    apply,
    /** Starts a checkout, or a change of the subscription that is paid for. */
    start: (plan: 'pro' | 'scale'): PaymentRow | null => {
      const row = live();
      if (row?.plan === plan && row.status === 'active') return null;
      const changed = row && isPaidInFull(row) ? row.id : null;
      const pending = payments.find(({ status }) => status === 'pending');
      if (pending) put(payments, { ...pending, status: 'replaced' });
      const id = `pay_${payments.length}_${nowMs()}`;
      const payment: PaymentRow = {
        id,
        accountId: 'acct_1',
        provider: 'stripe',
        plan,
        status: 'pending',
        amount: AMOUNTS[plan],
        currency: 'usd',
        checkoutRef: changed ? null : `cs_${id}`,
        checkoutUrl: null,
        successUrl: null,
        cancelUrl: null,
        createdAt: nowMs(),
        paidAt: null,
        checkedAt: 0,
        expireDueAt: null,
        subscriptionId: changed,
        periodEnd: null,
        refundedAmount: 0,
        refundDueAt: null,
      };
      payments.push(payment);
      return payment;
    },
  };
};
