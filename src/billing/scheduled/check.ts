import { and, asc, eq, lte } from 'drizzle-orm';
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

/** The most rows of each kind in one run. The rest is still due in the next run. */
const MAX_CHECKS = 100;
/** After so many failures of a kind, the provider is considered down until the next run. */
const MAX_FAILURES = 5;

interface Check {
  accountId: string;
  run: () => Promise<unknown>;
}

/** Some rows that always fail hold up only the others of their kind. */
const runChecks = async (checks: Check[]): Promise<void> => {
  let failures = 0;
  for (const { accountId, run } of checks) {
    try {
      await run();
    } catch (error) {
      logError('payment_check_failed', error, { account_id: accountId });
      if (++failures === MAX_FAILURES) return;
    }
  }
};

/**
 * Asks once a day about every payment that is pending and every subscription that is past due or over, expires replaced checkouts
 * that are still payable, and gives back what is due. Plans of the sandbox end here once the service takes real payments.
 */
export const checkDue = async (ctx: DatabaseCtx): Promise<void> => {
  const nowMs = Date.now();
  const [replaced, duePayments, dueSubscriptions, unpaidPlans, refunds] = await ctx.db.batch([
    ctx.db
      .select()
      .from(payments)
      .where(lte(payments.expireDueAt, nowMs))
      .orderBy(asc(payments.expireDueAt))
      .limit(MAX_CHECKS),
    ctx.db
      .select()
      .from(payments)
      .where(and(isPending, lte(payments.checkedAt, nowMs - DAY_MS)))
      .orderBy(asc(payments.checkedAt))
      .limit(MAX_CHECKS),
    ctx.db
      .select()
      .from(subscriptions)
      .where(and(isLive, lte(subscriptions.checkAt, nowMs)))
      .orderBy(asc(subscriptions.checkAt))
      .limit(MAX_CHECKS),
    ctx.db
      .select()
      .from(subscriptions)
      .where(and(eq(subscriptions.provider, 'sandbox'), isLive))
      .limit(isLiveService(ctx.env) ? MAX_CHECKS : 0),
    ctx.db
      .select()
      .from(payments)
      .where(lte(payments.refundDueAt, nowMs))
      .orderBy(asc(payments.refundDueAt))
      .limit(MAX_CHECKS),
  ]);
  const toChecks = <T extends { accountId: string }>(rows: T[], run: (row: T) => Promise<unknown>): Check[] =>
    rows.map((row) => ({ accountId: row.accountId, run: () => run(row) }));
  await runChecks(toChecks(replaced, (row) => expireAgain(ctx, row)));
  await runChecks(toChecks(duePayments, (row) => checkPayment(ctx, row, DAY_MS, null)));
  await runChecks(toChecks([...dueSubscriptions, ...unpaidPlans], (row) => checkSubscription(ctx, row)));
  await runChecks(toChecks(refunds, (row) => refundAgain(ctx, row)));
};
