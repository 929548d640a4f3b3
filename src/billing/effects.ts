import { and, eq, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { DatabaseCtx } from '../db/ctx.ts';
import { isLive, payments, subscriptions } from '../db/schema.ts';
import { accounts } from '../db/schema.ts';
import { eventChange, type Change } from '../gate/feed.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { GRACE_DAYS } from '../shared/rules/plans.ts';
import { newEvent } from '../shared/events.ts';
import { newId } from '../shared/ids.ts';
import { accountWhileLive, activeAndUnpaid, endMarker, isRenewalRecorded } from './guards.ts';
import type { Fact, Provider, ProviderName } from './provider.ts';

// Computes what a fact changes, given the current state. Nothing is written here.

/** How long the paid limits remain after a payment has failed. */

export interface Effect {
  accountId: string;
  /** A call to the provider. It runs before the commit, so that on failure the notification is sent again. */
  beforeCommit?: () => Promise<void>;
  statements: BatchItem<'sqlite'>[];
  changes: Change[];
}

const getEmail = async ({ db }: DatabaseCtx, accountId: string): Promise<string> => {
  const [account] = await db
    .select({ email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  return account?.email ?? '';
};

const findSubscription = async ({ db }: DatabaseCtx, provider: ProviderName, ref: string) => {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.provider, provider), eq(subscriptions.providerRef, ref)));
  return row ?? null;
};

const paidEffect = async (
  ctx: DatabaseCtx,
  provider: Provider,
  fact: Extract<Fact, { kind: 'paid' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const [payment] = await db.select().from(payments).where(eq(payments.id, fact.paymentId));
  // The payment can belong to another service that uses the same provider.
  if (!payment || payment.provider !== provider.name || payment.status === 'paid') return null;
  const { accountId, plan } = payment;
  const [current] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.accountId, accountId), isLive));
  const nowMs = Date.now();
  const { startMs: periodStart, endMs: periodEnd } = fact.period;
  return {
    accountId,
    // Upgrades cancel the current subscription. If the same fact is applied twice in parallel, `current` is
    // already the new subscription.
    ...(current?.provider === provider.name &&
      current.providerRef !== fact.subscriptionRef && {
        beforeCommit: () => provider.cancel(current.providerRef, 'now'),
      }),
    statements: [
      db.update(payments).set({ status: 'paid', paidAt: nowMs }).where(eq(payments.id, payment.id)),
      db
        .update(subscriptions)
        .set({ status: 'ended', updatedAt: nowMs })
        // If another subscription has begun since the read above, the insert fails and the fact is retried.
        .where(eq(subscriptions.id, current?.id ?? '')),
      ...(current ? endMarker(ctx, current) : []),
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
          customer_email: await getEmail(ctx, accountId),
        }),
      ),
    ],
  };
};

const renewedEffect = async (
  ctx: DatabaseCtx,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'renewed' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const subscription = await findSubscription(ctx, provider, fact.subscriptionRef);
  if (!subscription || (await isRenewalRecorded(ctx, subscription, fact.invoiceRef))) return null;
  const { accountId, plan, id } = subscription;
  const nowMs = Date.now();
  const { startMs: periodStart, endMs: periodEnd } = fact.period;
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
          // A canceled subscription stays canceled, but it lasts until the end of the paid period.
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
        .where(accountWhileLive(ctx, accountId, id)),
    ],
    changes: [
      eventChange(
        newEvent('payment.success', nowMs, {
          payment_id: payment.id,
          plan,
          amount: fact.amount,
          currency: fact.currency,
          customer_email: await getEmail(ctx, accountId),
        }),
      ),
    ],
  };
};

const paymentFailedEffect = async (
  ctx: DatabaseCtx,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'payment_failed' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const subscription = await findSubscription(ctx, provider, fact.subscriptionRef);
  if (subscription?.status !== 'active') return null;
  const { accountId, id } = subscription;
  const { startMs: periodStart, endMs: periodEnd } = fact.period;
  const isUnpaid = activeAndUnpaid(ctx, provider, fact.invoiceRef);
  return {
    accountId,
    statements: [
      db
        .update(accounts)
        .set({ periodStart, periodEnd, planUntil: fact.atMs + GRACE_DAYS * DAY_MS })
        .where(accountWhileLive(ctx, accountId, id, isUnpaid)),
      db
        .update(subscriptions)
        .set({ status: 'past_due', periodStart, periodEnd, updatedAt: Date.now() })
        .where(and(eq(subscriptions.id, id), isUnpaid)),
    ],
    changes: [],
  };
};

const endedEffect = async (
  ctx: DatabaseCtx,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'ended' }>,
): Promise<Effect | null> => {
  const { db } = ctx;
  const subscription = await findSubscription(ctx, provider, fact.subscriptionRef);
  if (!subscription || subscription.status === 'ended') return null;
  const { accountId, id, plan, cancelledAt } = subscription;
  const nowMs = Date.now();
  const event = newEvent('subscription.cancelled', nowMs, {
    subscription_id: id,
    plan,
    ends_at: new Date(fact.atMs).toISOString(),
    customer_email: await getEmail(ctx, accountId),
  });
  return {
    accountId,
    statements: [
      db
        .update(accounts)
        .set({ planUntil: fact.atMs })
        .where(accountWhileLive(ctx, accountId, id)),
      db
        .update(subscriptions)
        .set({ status: 'ended', endsAt: fact.atMs, cancelledAt: cancelledAt ?? nowMs, updatedAt: nowMs })
        .where(and(eq(subscriptions.id, id), isLive)),
      ...endMarker(ctx, subscription),
    ],
    // A cancellation through this service has already sent the event.
    changes: cancelledAt === null ? [eventChange(event)] : [],
  };
};

/** Returns what a fact changes, or null if it changes nothing. */
export const computeEffect = (ctx: DatabaseCtx, provider: Provider, fact: Fact): Promise<Effect | null> => {
  switch (fact.kind) {
    case 'paid':
      return paidEffect(ctx, provider, fact);
    case 'renewed':
      return renewedEffect(ctx, provider.name, fact);
    case 'payment_failed':
      return paymentFailedEffect(ctx, provider.name, fact);
    case 'ended':
    default:
      return endedEffect(ctx, provider.name, fact);
  }
};
