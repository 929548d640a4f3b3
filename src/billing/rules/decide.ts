import type { SubscriptionRow } from '../../db/schema.ts';
import { isoTime } from '../../shared/rules/dates.ts';
import type { BillingEvent, Books, Decision } from './books.ts';
import { decideBought, decideSettled } from './decide-payment.ts';
import { cancelledEvent, decideDisputed, decideRefunded } from './decide-reversal.ts';
import type { Fact } from './fact.ts';
import { graceEnd, standingOf, withFacts } from './standing.ts';

type Terms = Extract<Fact, { kind: 'terms' }>;
type Ended = Extract<Fact, { kind: 'ended' }>;

const failedFacts = (row: SubscriptionRow, { failingRef, period, readAtMs }: Terms) => {
  if (failingRef === null) return { failedAt: null };
  if (row.failedAt !== null) return {};
  const { startMs: periodStart, endMs: periodEnd } = period;
  // An invoice can be days older than its failure.
  return { failedAt: readAtMs, failedRef: failingRef, periodStart, periodEnd };
};

/** A cancellation must not extend an unpaid period beyond its grace period. */
const cancelledFacts = (row: SubscriptionRow, { endsAtMs }: Terms, nowMs: number) => {
  if (endsAtMs === null) return { cancelledAt: null, endsAt: null };
  const cancelledAt = row.cancelledAt ?? nowMs;
  const graceMs = row.failedAt === null ? Infinity : graceEnd(row.failedAt);
  return { cancelledAt, endsAt: Math.max(cancelledAt, Math.min(endsAtMs, graceMs)) };
};

const entryOf = (row: SubscriptionRow, next: SubscriptionRow): NonNullable<Decision['entry']> => {
  const { id: target, plan } = next;
  if (next.plan !== row.plan) return { action: 'plan.change', target, details: { plan } };
  if (next.failedAt !== null && row.failedAt === null) return { action: 'payment.fail', target };
  if (next.cancelledAt === null && row.cancelledAt !== null) return { action: 'subscription.resume', target };
  if (next.cancelledAt !== null)
    return { action: 'subscription.cancel', target, details: { at: 'period_end' } };
  return { action: 'subscription.renew', target, details: { plan } };
};

const eventsOf = (row: SubscriptionRow, next: SubscriptionRow): BillingEvent[] => {
  const isNewFailure = next.failedAt !== null && next.failedRef !== row.failedRef;
  // The plan may have been canceled for an earlier day.
  const endsAt = standingOf(next).planUntil ?? graceEnd(next.failedAt ?? 0);
  const fields = { subscription_id: row.id, plan: next.plan, ends_at: isoTime(endsAt) };
  return [
    ...(isNewFailure ? [{ name: 'payment.failed' as const, fields }] : []),
    ...(next.cancelledAt !== null && row.cancelledAt === null && next.endsAt !== null
      ? [cancelledEvent(next, next.endsAt)]
      : []),
  ];
};

const decideTerms = ({ nowMs, subscription: row, change, payment }: Books, fact: Terms): Decision | null => {
  if (!row || row.status === 'ended' || fact.readAtMs < row.readAt) return null;
  // What was read is older than the payment of the invoice, or of a later one.
  const isOld = payment !== null || fact.period.endMs < row.periodEnd;
  if (fact.failingRef !== null && isOld) return null;
  const failed = withFacts(row, failedFacts(row, fact));
  const next = withFacts(failed, {
    ...cancelledFacts(failed, fact, nowMs),
    plan: fact.plan ?? row.plan,
    readAt: fact.readAtMs,
    updatedAt: nowMs,
  });
  // Nothing was to be paid for the change.
  const isDone = change?.plan === next.plan && fact.endsAtMs === null && fact.failingRef === null;
  const isSame = (['status', 'plan', 'failedAt', 'cancelledAt', 'endsAt'] as const).every(
    (name) => row[name] === next[name],
  );
  if (isSame && !isDone) return null;
  return {
    accountId: row.accountId,
    cancels: [],
    payments: isDone ? [{ ...change, status: 'paid', amount: 0, paidAt: nowMs }] : [],
    subscriptions: [next],
    customerRef: null,
    events: eventsOf(row, next),
    entry: entryOf(row, next),
  };
};

const decideEnded = ({ nowMs, subscription: row }: Books, { atMs }: Ended): Decision | null => {
  if (!row || row.status === 'ended') return null;
  return {
    accountId: row.accountId,
    cancels: [],
    payments: [],
    subscriptions: [
      { ...row, status: 'ended', endsAt: atMs, cancelledAt: row.cancelledAt ?? nowMs, updatedAt: nowMs },
    ],
    customerRef: null,
    // A cancellation through this service has already sent the event.
    events: row.cancelledAt === null ? [cancelledEvent(row, atMs)] : [],
    entry: { action: 'subscription.end', target: row.id },
  };
};

/** Returns what a fact changes, or null if it changes nothing. */
export const decide = (books: Books, fact: Fact): Decision | null => {
  switch (fact.kind) {
    case 'bought':
      return decideBought(books, fact);
    case 'settled':
      return decideSettled(books, fact);
    case 'terms':
      return decideTerms(books, fact);
    case 'refunded':
      return decideRefunded(books, fact);
    case 'disputed':
      return decideDisputed(books, fact);
    case 'ended':
    default:
      return decideEnded(books, fact);
  }
};
