import type { PaymentRow, SubscriptionRow } from '../../db/schema.ts';
import { isoTime } from '../../shared/rules/dates.ts';
import { type BillingEvent, type Books, isSettled, kept, type Decision, paymentEvent } from './books.ts';
import type { Fact } from './fact.ts';
import { withFacts } from './standing.ts';

// What it means that money was given back, or is claimed back.

type Refunded = Extract<Fact, { kind: 'refunded' }>;
type Disputed = Extract<Fact, { kind: 'disputed' }>;

export const cancelledEvent = ({ id, plan }: SubscriptionRow, endsAt: number): BillingEvent => ({
  name: 'subscription.cancelled',
  fields: { subscription_id: id, plan, ends_at: isoTime(endsAt) },
});

const end = (
  row: SubscriptionRow,
  nowMs: number,
): Pick<Decision, 'cancels' | 'subscriptions' | 'events'> => ({
  cancels: [row.providerRef],
  subscriptions: [
    { ...row, status: 'ended', endsAt: nowMs, cancelledAt: row.cancelledAt ?? nowMs, updatedAt: nowMs },
  ],
  events: row.cancelledAt === null ? [cancelledEvent(row, nowMs)] : [],
});

/** The subscription if the payment is for its current period, or a later one. */
const paidWith = ({ subscription }: Books, payment: PaymentRow, untilMs: number): SubscriptionRow | null => {
  const isCurrent = subscription !== null && (payment.periodEnd ?? untilMs) >= subscription.periodEnd;
  return isCurrent && subscription.status !== 'ended' ? subscription : null;
};

/** What else was paid for the current period. */
const others = ({ current }: Books, payment: PaymentRow, subscription: SubscriptionRow) =>
  current.filter((row) => row.id !== payment.id && row.subscriptionId === subscription.id);

export const decideRefunded = (books: Books, fact: Refunded): Decision | null => {
  const { nowMs, payment } = books;
  if (!payment || !isSettled(payment) || fact.amount <= payment.refundedAmount) return null;
  const isWhole = fact.amount >= payment.amount;
  const next: PaymentRow = {
    ...payment,
    refundedAmount: fact.amount,
    status: isWhole ? 'refunded' : payment.status,
    refundDueAt: isWhole ? null : payment.refundDueAt,
  };
  const subscription = isWhole ? paidWith(books, payment, fact.untilMs) : null;
  // A change of plan is paid for separately. Refunding it leaves what the rest was paid for.
  const isLeft = subscription !== null && others(books, payment, subscription).some((row) => kept(row) > 0);
  const ending = subscription && !isLeft ? end(subscription, nowMs) : null;
  const amount = fact.amount - payment.refundedAmount;
  return {
    accountId: payment.accountId,
    cancels: [],
    subscriptions: [],
    ...ending,
    payments: [next],
    customerRef: null,
    events: [paymentEvent('payment.refunded', { ...payment, amount }), ...(ending?.events ?? [])],
    entry: { action: 'payment.refund', target: payment.id, details: { amount } },
  };
};

/** A dispute suspends the plan at once. It ends the plan when it is lost, and gives it back when it is won. */
const afterDispute = (
  books: Books,
  payment: PaymentRow,
  { state, untilMs }: Disputed,
): Partial<Pick<Decision, 'cancels' | 'subscriptions' | 'events'>> => {
  const isOver = state === 'won' && books.subscription?.status !== 'ended';
  // A failed invoice may have begun the next period, in which the plan would stay suspended.
  const subscription = isOver ? books.subscription : paidWith(books, payment, untilMs);
  if (!subscription) return {};
  if (state === 'lost') return end(subscription, books.nowMs);
  const isOtherOpen = others(books, payment, subscription).some(({ status }) => status === 'disputed');
  const disputedAt = state === 'open' || isOtherOpen ? (subscription.disputedAt ?? books.nowMs) : null;
  return { subscriptions: [withFacts(subscription, { disputedAt, updatedAt: books.nowMs })] };
};

export const decideDisputed = (books: Books, fact: Disputed): Decision | null => {
  const { payment } = books;
  if (!payment || !isSettled(payment)) return null;
  const { accountId, id } = payment;
  const isRefunded = kept(payment) === 0;
  const status = fact.state !== 'won' ? 'disputed' : isRefunded ? 'refunded' : 'paid';
  // A lost dispute has given the money back, and the provider refuses to do so again.
  const refundDueAt = fact.state === 'lost' ? null : payment.refundDueAt;
  const { events = [], ...effect } = afterDispute(books, payment, fact);
  return {
    accountId,
    cancels: [],
    subscriptions: [],
    ...effect,
    payments: [{ ...payment, status, refundDueAt }],
    customerRef: null,
    events: [
      paymentEvent('payment.disputed', { ...payment, amount: fact.amount }, { status: fact.state }),
      ...events,
    ],
    entry: { action: 'payment.dispute', target: id, details: { state: fact.state } },
  };
};
