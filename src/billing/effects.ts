import { and, eq, exists, sql } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import { isLive, payments, subscriptions, accounts } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { DAY_MS, isoTime } from '../shared/rules/dates.ts';
import { GRACE_DAYS } from '../shared/rules/plans.ts';
import { newEvent } from '../shared/text/events.ts';
import { newId } from '../shared/text/ids.ts';
import { cancellationEffect } from './cancellation-effect.ts';
import { type Effect, findSubscription, getEmail } from './effect.ts';
import { accountWhileLive, activeAndUnpaid, endMarker, isRenewalRecorded } from './guards.ts';
import { paidEffect } from './paid-effect.ts';
import type { Fact, Provider, ProviderName } from './provider.ts';

// Computes what a fact changes, given the current state. Nothing is written here.

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
    entry: { action: 'subscription.renew', target: id, details: { plan } },
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
  if (await isRenewalRecorded(ctx, subscription, fact.invoiceRef)) return null;
  const { accountId, id, plan } = subscription;
  const { startMs: periodStart, endMs: periodEnd } = fact.period;
  const isUnpaid = and(eq(subscriptions.id, id), activeAndUnpaid(ctx, provider, fact.invoiceRef));
  const nowMs = Date.now();
  const endsAtMs = fact.atMs + GRACE_DAYS * DAY_MS;
  const event = newEvent('payment.failed', nowMs, {
    subscription_id: id,
    plan,
    ends_at: isoTime(endsAtMs),
    customer_email: await getEmail(ctx, accountId),
  });
  return {
    accountId,
    condition: exists(db.select({ id: subscriptions.id }).from(subscriptions).where(isUnpaid)),
    statements: [
      db
        .update(accounts)
        .set({ periodStart, periodEnd, planUntil: endsAtMs })
        .where(accountWhileLive(ctx, accountId, id)),
      db
        .update(subscriptions)
        .set({ status: 'past_due', periodStart, periodEnd, updatedAt: nowMs })
        .where(eq(subscriptions.id, id)),
    ],
    changes: [eventChange(event)],
    entry: { action: 'payment.fail', target: id },
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
    entry: { action: 'subscription.end', target: id },
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
    case 'cancellation':
      return cancellationEffect(ctx, provider.name, fact);
    case 'ended':
    default:
      return endedEffect(ctx, provider.name, fact);
  }
};
