import { and, eq, exists, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { DatabaseCtx } from '../../db/ctx.ts';
import {
  accounts,
  appliedFacts,
  type PaymentRow,
  payments,
  type SubscriptionRow,
  subscriptions,
} from '../../db/schema.ts';
import type { Books, Decision } from '../rules/books.ts';
import { standingOf } from '../rules/standing.ts';
import { endMarker, overName } from './guards.ts';

/** The columns that a decision depends on, beside those that never change. */
const DECISIVE = {
  payment: ['status', 'refundedAmount', 'subscriptionId', 'checkoutRef', 'refundDueAt'],
  subscription: ['status', 'plan', 'periodEnd', 'failedAt', 'disputedAt', 'cancelledAt', 'endsAt'],
} as const;
const PAYMENT_COLUMNS = ['id', ...DECISIVE.payment] as const;

/** A single parameter, however many payments there are: D1 allows 100 in a statement. */
const arePaymentsAsRead = (rows: PaymentRow[]): SQL => {
  const read = rows.map((row) => Object.fromEntries(PAYMENT_COLUMNS.map((name) => [name, row[name]])));
  const isSame = PAYMENT_COLUMNS.map(
    (name) => sql`${payments[name]} IS read.value ->> ${sql.raw(`'${name}'`)}`,
  );
  const row = sql`SELECT 1 FROM ${payments} WHERE ${sql.join(isSame, sql` AND `)}`;
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(read)}) AS read WHERE NOT EXISTS (${row}))`;
};

/** Only the terms depend on when they were read. Other decisions leave that as it is, so they may cross a reading. */
const isOfTerms = (row: SubscriptionRow, next: SubscriptionRow) => next.readAt !== row.readAt;

const isSubscriptionAsRead = ({ db }: DatabaseCtx, row: SubscriptionRow, next: SubscriptionRow): SQL =>
  exists(
    db
      .select({ id: subscriptions.id })
      .from(subscriptions)
      .where(
        and(
          eq(subscriptions.id, row.id),
          ...DECISIVE.subscription.map((name) => sql`${subscriptions[name]} IS ${row[name]}`),
          isOfTerms(row, next) ? eq(subscriptions.readAt, row.readAt) : undefined,
        ),
      ),
  );

const isAccountAsRead = ({ db }: DatabaseCtx, { isLeaving }: Books, accountId: string): SQL => {
  const isStill = (isLeaving ? isNotNull : isNull)(accounts.eraseAt);
  return exists(
    db
      .select({ id: accounts.id })
      .from(accounts)
      .where(and(eq(accounts.id, accountId), isStill)),
  );
};

const isOver = ({ status, cancelledAt }: SubscriptionRow) => status === 'ended' || cancelledAt !== null;

const markerChange = (ctx: DatabaseCtx, row: SubscriptionRow, next: SubscriptionRow) => {
  if (isOver(row) === isOver(next)) return [];
  return isOver(next)
    ? endMarker(ctx, row)
    : [ctx.db.delete(appliedFacts).where(eq(appliedFacts.name, overName(row.id)))];
};

const writeSubscription = (ctx: DatabaseCtx, row: SubscriptionRow | null, next: SubscriptionRow) => {
  const { checkAt: _, ...values } = next;
  if (!row) return [ctx.db.insert(subscriptions).values(values)];
  const { plan, status, periodStart, periodEnd, cancelledAt, endsAt } = next;
  const { failedAt, failedRef, disputedAt, readAt, updatedAt } = next;
  const changes = { plan, status, periodStart, periodEnd, cancelledAt, endsAt };
  const facts = { failedAt, failedRef, disputedAt, updatedAt, ...(isOfTerms(row, next) && { readAt }) };
  return [
    ctx.db
      .update(subscriptions)
      .set({ ...changes, ...facts })
      .where(eq(subscriptions.id, row.id)),
    ...markerChange(ctx, row, next),
  ];
};

const writePayment = ({ db }: DatabaseCtx, row: PaymentRow | null, next: PaymentRow) => {
  if (!row) return [db.insert(payments).values(next)];
  const { status, amount, currency, checkoutRef, paidAt } = next;
  const { subscriptionId, periodEnd, refundedAmount, refundDueAt } = next;
  const paid = { status, amount, currency, checkoutRef, paidAt };
  return [
    db
      .update(payments)
      .set({ ...paid, subscriptionId, periodEnd, refundedAmount, refundDueAt })
      .where(eq(payments.id, row.id)),
  ];
};

/** What the account's gate applies follows from its live subscription, or from the one that has just ended. */
const writeAccount = ({ db }: DatabaseCtx, { live }: Books, decision: Decision) => {
  const { subscriptions: rows, accountId, customerRef } = decision;
  const own = rows.findLast(({ status }) => status !== 'ended') ?? rows.find(({ id }) => id === live?.id);
  if (!own) return [];
  const { plan, periodStart, periodEnd } = own;
  const { planUntil } = standingOf(own);
  return [
    db
      .update(accounts)
      .set({ plan, periodStart, periodEnd, planUntil, ...(customerRef !== null && { customerRef }) })
      .where(eq(accounts.id, accountId)),
  ];
};

/** Returns the statements of a decision, and the condition that what it was decided on is still true. */
export const writeDecision = (ctx: DatabaseCtx, books: Books, decision: Decision) => {
  const known = [books.payment, books.change, ...books.current];
  const paymentOf = (id: string) => known.find((row) => row?.id === id) ?? null;
  const subscriptionOf = (id: string) =>
    [books.live, books.subscription].find((row) => row?.id === id) ?? null;
  // The period's other payments count even if they don't change: two refunds may end the plan only together.
  const read = [...decision.payments.map(({ id }) => paymentOf(id)), ...books.current];
  const conditions: SQL[] = [
    isAccountAsRead(ctx, books, decision.accountId),
    arePaymentsAsRead(read.filter((row) => row !== null)),
  ];
  const statements: BatchItem<'sqlite'>[] = [];
  for (const next of decision.payments) {
    statements.push(...writePayment(ctx, paymentOf(next.id), next));
  }
  for (const next of decision.subscriptions) {
    const row = subscriptionOf(next.id);
    if (row) conditions.push(isSubscriptionAsRead(ctx, row, next));
    statements.push(...writeSubscription(ctx, row, next));
  }
  statements.push(...writeAccount(ctx, books, decision));
  return { condition: and(...conditions) ?? sql`TRUE`, statements };
};
