import { and, eq, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { PublicCtx } from '../db/ctx.ts';
import { isLive, payments, subscriptions } from '../db/schema.ts';
import { accounts } from '../db/schema.ts';
import { eventChange, type Change } from '../gate/feed.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { newEvent } from '../shared/events.ts';
import { newId } from '../shared/ids.ts';
import { claimEnd, livesOn } from './guards.ts';
import type { Fact, Provider, ProviderName } from './provider.ts';

// What a fact changes, decided on how things stand. Nothing is written here.

/** How long the paid limits hold after a payment has failed. */
const GRACE_MS = 7 * DAY_MS;

export interface Effect {
  accountId: string;
  /** At the provider, and before the commit: if it fails, the notification comes again. */
  before?: () => Promise<void>;
  statements: BatchItem<'sqlite'>[];
  changes: Change[];
}

const emailOf = async ({ db }: PublicCtx, accountId: string): Promise<string> => {
  const [account] = await db
    .select({ email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  return account?.email ?? '';
};

const subscriptionOf = async ({ db }: PublicCtx, provider: ProviderName, ref: string) => {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.provider, provider), eq(subscriptions.providerRef, ref)));
  return row ?? null;
};

const paid = async (
  ctx: PublicCtx,
  provider: Provider,
  fact: Extract<Fact, { kind: 'paid' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const [payment] = await db.select().from(payments).where(eq(payments.id, fact.paymentId));
  // Without it: a payment of another service at the same provider.
  if (!payment || payment.provider !== provider.name) return null;
  const { accountId, plan } = payment;
  const [before] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.accountId, accountId), isLive));
  const nowMs = Date.now();
  const { startMs: periodStart, endMs: periodEnd } = fact.term;
  return {
    accountId,
    // An upgrade: nobody pays for two plans. Its own subscription is there if the same fact is told twice at once.
    ...(before?.provider === provider.name &&
      before.providerRef !== fact.subscriptionRef && {
        before: () => provider.cancel(before.providerRef, 'now'),
      }),
    statements: [
      db.update(payments).set({ status: 'paid', paidAt: nowMs }).where(eq(payments.id, payment.id)),
      db
        .update(subscriptions)
        .set({ status: 'ended', updatedAt: nowMs })
        // One that came in between is not in this list, so that the insert fails and all is done again.
        .where(eq(subscriptions.id, before?.id ?? '')),
      ...(before ? claimEnd(ctx, before) : []),
      db.insert(subscriptions).values({
        id: newId('sub'),
        accountId,
        provider: provider.name,
        providerRef: fact.subscriptionRef,
        plan,
        status: 'active',
        periodStart,
        periodEnd,
        createdAt: nowMs,
        updatedAt: nowMs,
      }),
      db
        .update(accounts)
        .set({
          plan,
          periodStart,
          periodEnd,
          planUntil: null,
          ...(fact.customerRef && { customerRef: fact.customerRef }),
        })
        .where(eq(accounts.id, accountId)),
    ],
    changes: [
      eventChange(
        newEvent('payment.success', nowMs, {
          payment_id: payment.id,
          plan,
          amount: payment.amount,
          currency: payment.currency,
          customer_email: await emailOf(ctx, accountId),
        }),
      ),
    ],
  };
};

const renewed = async (
  ctx: PublicCtx,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'renewed' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const subscription = await subscriptionOf(ctx, provider, fact.subscriptionRef);
  if (!subscription) return null;
  const { accountId, plan, id } = subscription;
  const nowMs = Date.now();
  const { startMs: periodStart, endMs: periodEnd } = fact.term;
  const payment = {
    id: newId('pay'),
    accountId,
    provider,
    plan,
    status: 'paid' as const,
    amount: fact.amount,
    currency: fact.currency,
    checkoutRef: fact.invoiceRef,
    createdAt: nowMs,
    paidAt: nowMs,
  };
  return {
    accountId,
    statements: [
      db.insert(payments).values(payment),
      db
        .update(subscriptions)
        .set({
          // Cancelled meanwhile: what has been paid for holds.
          status: sql`CASE ${subscriptions.status} WHEN 'cancelled' THEN 'cancelled' ELSE 'active' END`,
          endsAt: sql`CASE ${subscriptions.status} WHEN 'cancelled' THEN ${periodEnd} END`,
          periodStart,
          periodEnd,
          updatedAt: nowMs,
        })
        .where(and(eq(subscriptions.id, id), isLive)),
      db
        .update(accounts)
        .set({
          periodStart,
          periodEnd,
          planUntil: sql`(SELECT ends_at FROM subscriptions WHERE id = ${id})`,
        })
        .where(livesOn(ctx, accountId, id)),
    ],
    changes: [
      eventChange(
        newEvent('payment.success', nowMs, {
          payment_id: payment.id,
          plan,
          amount: fact.amount,
          currency: fact.currency,
          customer_email: await emailOf(ctx, accountId),
        }),
      ),
    ],
  };
};

const paymentFailed = async (
  ctx: PublicCtx,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'payment_failed' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const subscription = await subscriptionOf(ctx, provider, fact.subscriptionRef);
  if (subscription?.status !== 'active') return null;
  const { accountId, id } = subscription;
  const { startMs: periodStart, endMs: periodEnd } = fact.term;
  const isActive = eq(subscriptions.status, 'active');
  return {
    accountId,
    statements: [
      db
        .update(accounts)
        .set({ periodStart, periodEnd, planUntil: fact.atMs + GRACE_MS })
        .where(livesOn(ctx, accountId, id, isActive)),
      db
        .update(subscriptions)
        .set({ status: 'past_due', periodStart, periodEnd, updatedAt: Date.now() })
        .where(and(eq(subscriptions.id, id), isActive)),
    ],
    changes: [],
  };
};

const ended = async (
  ctx: PublicCtx,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'ended' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const subscription = await subscriptionOf(ctx, provider, fact.subscriptionRef);
  if (!subscription || subscription.status === 'ended') return null;
  const { accountId, id, plan, cancelledAt } = subscription;
  const nowMs = Date.now();
  const event = newEvent('subscription.cancelled', nowMs, {
    subscription_id: id,
    plan,
    ends_at: new Date(fact.atMs).toISOString(),
    customer_email: await emailOf(ctx, accountId),
  });
  return {
    accountId,
    statements: [
      db
        .update(accounts)
        .set({ planUntil: fact.atMs })
        .where(livesOn(ctx, accountId, id)),
      db
        .update(subscriptions)
        .set({ status: 'ended', endsAt: fact.atMs, cancelledAt: cancelledAt ?? nowMs, updatedAt: nowMs })
        .where(and(eq(subscriptions.id, id), isLive)),
      ...claimEnd(ctx, subscription),
    ],
    // Who cancelled here has been told already.
    changes: cancelledAt === null ? [eventChange(event)] : [],
  };
};

/** What is to be done about a fact, or null if nothing here is concerned. */
export const effectOf = (ctx: PublicCtx, provider: Provider, fact: Fact): Promise<Effect | null> => {
  switch (fact.kind) {
    case 'paid':
      return paid(ctx, provider, fact);
    case 'renewed':
      return renewed(ctx, provider.name, fact);
    case 'payment_failed':
      return paymentFailed(ctx, provider.name, fact);
    case 'ended':
    default:
      return ended(ctx, provider.name, fact);
  }
};
