import { and, asc, eq, lte, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { DatabaseCtx } from '../../db/ctx.ts';
import {
  isLive,
  isPending,
  type PaymentRow,
  payments,
  type SubscriptionRow,
  subscriptions,
} from '../../db/schema.ts';
import { DAY_MS, HOUR_MS } from '../../shared/rules/dates.ts';
import { logError } from '../../shared/text/log.ts';
import { expireAgain } from '../expire.ts';
import { applyState, giveBack } from '../facts/apply.ts';
import type { Subject } from '../provider/provider.ts';
import { findProvider } from '../provider/providers.ts';
import { isLiveService } from '../provider/sandbox.ts';
import type { ProviderName } from '../rules/fact.ts';

// Asks the provider about payments and subscriptions whose notification may have been lost.

/** Asks the provider and applies what it reports. Returns whether the checkout will never be paid. */
const ask = async (ctx: DatabaseCtx, name: ProviderName, subject: Subject, origin: string | null) => {
  const provider = await findProvider(ctx.env, name, origin);
  return provider !== null && (await applyState(ctx, provider, subject)).checkout === 'expired';
};

/** What there is to ask about a pending payment: its checkout, or the subscription that it is to change. */
const subjectOf = async (
  { db }: DatabaseCtx,
  { provider, checkoutRef, subscriptionId }: PaymentRow,
): Promise<Subject | null> => {
  if (checkoutRef !== null) return { kind: 'checkout', ref: checkoutRef };
  if (subscriptionId === null) return null;
  const isSubscription = and(eq(subscriptions.id, subscriptionId), eq(subscriptions.provider, provider));
  const [row] = await db.select().from(subscriptions).where(isSubscription);
  return row ? { kind: 'subscription', ref: row.providerRef, endsAtMs: row.endsAt } : null;
};

/** Asks about a pending payment, unless this was done within `intervalMs`. Returns whether it asked. */
const checkPayment = async (
  ctx: DatabaseCtx,
  payment: PaymentRow,
  intervalMs: number,
  origin: string | null,
): Promise<boolean> => {
  const { id, provider, checkoutRef, createdAt } = payment;
  const nowMs = Date.now();
  const claimed = await ctx.db
    .update(payments)
    .set({ checkedAt: nowMs })
    .where(and(eq(payments.id, id), isPending, lte(payments.checkedAt, nowMs - intervalMs)))
    .returning({ id: payments.id });
  if (claimed.length === 0) return false;
  const subject = await subjectOf(ctx, payment);
  const hasExpired = subject !== null && (await ask(ctx, provider, subject, origin));
  // Without a checkoutRef, the checkout is just being started, its start failed, or a change waits for its owner.
  if (hasExpired || (checkoutRef === null && createdAt <= nowMs - DAY_MS)) {
    await ctx.db
      .update(payments)
      .set({ status: 'expired' })
      .where(and(eq(payments.id, id), isPending));
  }
  return true;
};

const checkSubscription = async (ctx: DatabaseCtx, row: SubscriptionRow): Promise<void> => {
  const nowMs = Date.now();
  const claimed = await ctx.db
    .update(subscriptions)
    .set({ checkedAt: nowMs })
    .where(and(eq(subscriptions.id, row.id), eq(subscriptions.checkedAt, row.checkedAt)))
    .returning({ id: subscriptions.id });
  if (claimed.length === 0) return;
  const { provider, providerRef: ref, endsAt: endsAtMs } = row;
  await ask(ctx, provider, { kind: 'subscription', ref, endsAtMs }, null);
};

const RETRY_MS = HOUR_MS / 2;

const refundAgain = async (ctx: DatabaseCtx, payment: PaymentRow): Promise<void> => {
  const refundDueAt = Date.now() + RETRY_MS;
  await ctx.db.update(payments).set({ refundDueAt }).where(eq(payments.id, payment.id));
  const provider = await findProvider(ctx.env, payment.provider, null);
  if (provider) await giveBack(ctx, provider, payment);
};

/** The shortest time between two questions about a payment whose customer reloads a page. It grows with the payment's age. */
const RETURN_INTERVAL_MS = 5_000;
const INTERVALS_PER_AGE = 20;

/** Customers come back within minutes, and an account should not make Stripe answer all day. */
const intervalOf = ({ createdAt }: PaymentRow) =>
  Math.max(RETURN_INTERVAL_MS, (Date.now() - createdAt) / INTERVALS_PER_AGE);

/** Asks about the pending payment of a customer who has come back from checkout. Returns whether it may have changed. */
export const checkReturning = async (ctx: DatabaseCtx, payment: PaymentRow, origin: string) => {
  if (payment.status !== 'pending') return false;
  try {
    return await checkPayment(ctx, payment, intervalOf(payment), origin);
  } catch (error) {
    // The customer sees that the payment is still pending, and the provider is asked again.
    logError('payment_check_failed', error, { account_id: payment.accountId });
    return true;
  }
};

/**
 * The most rows of a kind in a run. Asking about one takes 10 to 90 of the 1,000 queries that D1 allows, depending on what is new.
 * Plans of the sandbox have a limit of their own.
 */
const MAX_CHECKS = 5;

/**
 * Returns whether more is due. Each row is due again only later, before the provider is asked, so those that fail are not. If all
 * fail, the provider is considered down until the next hour.
 */
const runChecks = async <T extends { accountId: string }>(
  rows: T[],
  run: (row: T) => Promise<unknown>,
): Promise<boolean> => {
  let done = 0;
  for (const row of rows) {
    try {
      await run(row);
      done++;
    } catch (error) {
      logError('payment_check_failed', error, { account_id: row.accountId });
    }
  }
  return done > 0 && rows.length >= MAX_CHECKS;
};

/** Returns the payments whose time has come, the longest due first. */
const findPayments = ({ db }: DatabaseCtx, time: SQLiteColumn, untilMs: number, condition?: SQL) =>
  db
    .select()
    .from(payments)
    .where(and(condition, lte(time, untilMs)))
    .orderBy(asc(time))
    .limit(MAX_CHECKS);

// Some rows that always fail hold up only the others of their kind.

/** Expires replaced checkouts that are still payable. */
export const expireCheckouts = async (ctx: DatabaseCtx): Promise<boolean> => {
  const due = await findPayments(ctx, payments.expireDueAt, Date.now());
  return runChecks(due, (row) => expireAgain(ctx, row));
};

/** Asks once a day about every payment that is pending. */
export const checkPayments = async (ctx: DatabaseCtx): Promise<boolean> => {
  const due = await findPayments(ctx, payments.checkedAt, Date.now() - DAY_MS, isPending);
  return runChecks(due, (row) => checkPayment(ctx, row, DAY_MS, null));
};

/**
 * Asks once a day about every subscription that is past due or over. Plans of the sandbox end here once the service takes real
 * payments.
 */
export const checkSubscriptions = async (ctx: DatabaseCtx): Promise<boolean> => {
  const nowMs = Date.now();
  const isSandbox = and(eq(subscriptions.provider, 'sandbox'), isLive);
  const [due, unpaid] = await ctx.db.batch([
    ctx.db
      .select()
      .from(subscriptions)
      .where(and(isLive, lte(subscriptions.checkAt, nowMs)))
      .orderBy(asc(subscriptions.checkAt))
      .limit(MAX_CHECKS),
    ctx.db
      .select()
      .from(subscriptions)
      .where(and(isSandbox, lte(subscriptions.checkedAt, nowMs - RETRY_MS)))
      .limit(isLiveService(ctx.env) ? MAX_CHECKS : 0),
  ]);
  const others = unpaid.filter(({ id }) => due.every((row) => row.id !== id));
  return runChecks([...due, ...others], (row) => checkSubscription(ctx, row));
};

/** Gives back what could not be given back at once. */
export const refundPayments = async (ctx: DatabaseCtx): Promise<boolean> => {
  const due = await findPayments(ctx, payments.refundDueAt, Date.now());
  return runChecks(due, (row) => refundAgain(ctx, row));
};
