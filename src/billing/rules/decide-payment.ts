import type { PaymentRow, SubscriptionRow } from '../../db/schema.ts';
import { newId } from '../../shared/text/ids.ts';
import { type Books, isEnded, isSettled, kept, type Decision, paymentEvent } from './books.ts';
import type { Fact } from './fact.ts';
import { withFacts } from './standing.ts';

// What it means that money has arrived.

type Bought = Extract<Fact, { kind: 'bought' }>;
type Settled = Extract<Fact, { kind: 'settled' }>;

/**
 * What was paid for the rest of the period of the subscription that a purchase replaces. Nobody pays for a period twice, unless
 * that was the purpose: the sandbox changes plans by another checkout.
 */
const paidTwice = ({ nowMs, current, payment }: Books, live: SubscriptionRow): PaymentRow[] => {
  const isOver = live.endsAt !== null && live.endsAt <= nowMs && live.failedAt === null;
  if (isOver || payment?.subscriptionId === live.id) return [];
  return current.filter(
    (row) =>
      row.subscriptionId === live.id &&
      row.status === 'paid' &&
      kept(row) > 0 &&
      (row.periodEnd ?? 0) > nowMs,
  );
};

/** Two checkouts were paid. The later choice stays in force, whatever the order in which the notifications arrive. */
const isOutdated = (payment: PaymentRow, live: SubscriptionRow) =>
  payment.status === 'replaced' && live.createdAt > payment.createdAt;

const dueIf = (buysNothing: boolean, nowMs: number) => (buysNothing ? { refundDueAt: nowMs } : {});

const success = (payment: PaymentRow) =>
  payment.amount > 0 ? [paymentEvent('payment.success', payment)] : [];

const replaceLive = (
  books: Books,
  fact: Bought,
): Pick<Decision, 'cancels' | 'payments' | 'subscriptions'> => {
  const { nowMs, provider, live } = books;
  const none = { cancels: [], payments: [], subscriptions: [] };
  // The same fact can be applied twice in parallel. Then `live` is already its subscription, and the insert fails.
  if (!live || live.providerRef === fact.subscriptionRef) return none;
  // Without an end of its own, because it was replaced: what is paid for it from now on buys nothing.
  const subscriptions = [{ ...live, status: 'ended' as const, endsAt: null, updatedAt: nowMs }];
  if (live.provider !== provider) return { ...none, subscriptions };
  return {
    cancels: [live.providerRef],
    payments: paidTwice(books, live).map((row) => ({ ...row, refundDueAt: nowMs })),
    subscriptions,
  };
};

export const decideBought = (books: Books, fact: Bought): Decision | null => {
  const { nowMs, isLeaving, provider, live, payment } = books;
  // The payment can belong to another service that uses the same provider.
  if (!payment || payment.provider !== provider || isSettled(payment)) return null;
  const { accountId, plan } = payment;
  const { startMs: periodStart, endMs: periodEnd } = fact.period;
  const paid: PaymentRow = {
    ...payment,
    ...fact.charged,
    checkoutRef: fact.invoiceRef ?? payment.checkoutRef,
    status: 'paid',
    paidAt: nowMs,
    periodEnd: fact.untilMs,
  };
  const subscription: SubscriptionRow = {
    id: newId('sub'),
    accountId,
    provider,
    providerRef: fact.subscriptionRef,
    plan,
    status: 'active',
    periodStart,
    periodEnd,
    cancelledAt: null,
    endsAt: null,
    failedAt: null,
    failedRef: null,
    disputedAt: null,
    readAt: 0,
    createdAt: nowMs,
    updatedAt: nowMs,
    checkedAt: 0,
    checkAt: null,
  };
  const isOld = live !== null && live.providerRef !== fact.subscriptionRef && isOutdated(payment, live);
  if (isLeaving || isOld || fact.isTooLate || isEnded(payment)) {
    return {
      accountId,
      cancels: [fact.subscriptionRef],
      payments: [{ ...paid, ...dueIf(paid.amount > 0, nowMs), subscriptionId: subscription.id }],
      // What else it was charged for is found to buy nothing, too.
      subscriptions: [{ ...subscription, status: 'ended' }],
      customerRef: null,
      events: [],
      entry: null,
    };
  }
  const replaced = replaceLive(books, fact);
  return {
    accountId,
    ...replaced,
    payments: [...replaced.payments, { ...paid, subscriptionId: subscription.id }],
    // If another subscription has begun since the books were read, the insert fails and the fact is retried.
    subscriptions: [...replaced.subscriptions, subscription],
    customerRef: fact.customerRef,
    events: success(paid),
    entry: { action: 'plan.change', target: payment.id, details: { plan } },
  };
};

/** Whether the money came too late for the subscription, or after another one that is paid for had replaced it. */
const buysNothing = ({ status, endsAt, updatedAt }: SubscriptionRow, { paidAtMs, period }: Settled) => {
  if (status !== 'ended') return false;
  return endsAt === null ? period.endMs > updatedAt : paidAtMs !== null && paidAtMs > endsAt;
};

/** Whether a payment for this period is still disputed. A failed invoice may have begun the period before it was paid. */
const isDisputed = ({ current }: Books, row: SubscriptionRow, endMs: number) =>
  current.some(
    ({ subscriptionId, status, periodEnd }) =>
      subscriptionId === row.id && status === 'disputed' && (periodEnd ?? 0) >= endMs,
  );

const renewed = (books: Books, row: SubscriptionRow, fact: Settled): SubscriptionRow => {
  const { startMs: periodStart, endMs: periodEnd } = fact.period;
  if (periodEnd < row.periodEnd || row.status === 'ended') return row;
  const isFailureOver = periodEnd > row.periodEnd || fact.invoiceRef === row.failedRef;
  return withFacts(row, {
    periodStart,
    periodEnd,
    ...(isFailureOver && { failedAt: null }),
    ...(!isDisputed(books, row, periodEnd) && { disputedAt: null }),
    // A canceled subscription stays canceled, but it lasts until the end of the paid period.
    ...(row.cancelledAt !== null && { endsAt: periodEnd }),
    updatedAt: books.nowMs,
  });
};

export const decideSettled = (books: Books, fact: Settled): Decision | null => {
  const { nowMs, isLeaving, provider, subscription, change } = books;
  if (!subscription || isSettled(books.payment)) return null;
  const { accountId, id } = subscription;
  const plan = fact.plan ?? subscription.plan;
  const { amount, currency, invoiceRef: checkoutRef } = fact;
  const answered = change?.plan === plan ? change : null;
  const paid: PaymentRow = {
    id: newId('pay'),
    accountId,
    provider,
    checkoutUrl: null,
    successUrl: null,
    cancelUrl: null,
    createdAt: nowMs,
    checkedAt: 0,
    expireDueAt: null,
    refundedAmount: 0,
    refundDueAt: null,
    ...answered,
    subscriptionId: id,
    plan,
    amount,
    currency,
    checkoutRef,
    status: 'paid',
    paidAt: nowMs,
    periodEnd: fact.period.endMs,
  };
  const isWasted = amount > 0 && (isLeaving || buysNothing(subscription, fact));
  // An invoice of nothing, such as one that a credit pays, is no payment.
  const isPayment = amount > 0 || answered !== null;
  return {
    accountId,
    cancels: isLeaving ? [subscription.providerRef] : [],
    payments: isPayment ? [{ ...paid, ...dueIf(isWasted, nowMs) }] : [],
    subscriptions: [isWasted ? subscription : renewed(books, subscription, fact)],
    customerRef: null,
    events: isWasted ? [] : success(paid),
    entry: isWasted ? null : { action: 'subscription.renew', target: id, details: { plan } },
  };
};
