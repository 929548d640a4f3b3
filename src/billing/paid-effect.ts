import { and, eq } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import { accounts, isLive, payments, subscriptions } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { newEvent } from '../shared/text/events.ts';
import { newId } from '../shared/text/ids.ts';
import { type Effect, getEmail } from './effect.ts';
import { endMarker } from './guards.ts';
import type { Fact, Provider } from './provider.ts';

export const paidEffect = async (
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
  const recordPayment = db
    .update(payments)
    .set({ status: 'paid', paidAt: nowMs })
    .where(eq(payments.id, payment.id));
  const event = newEvent('payment.success', nowMs, {
    payment_id: payment.id,
    plan,
    amount: payment.amount,
    currency: payment.currency,
    customer_email: await getEmail(ctx, accountId),
  });
  // The same fact can be applied twice in parallel. Then `current` is already its subscription.
  const isSame = current?.providerRef === fact.subscriptionRef;
  // The checkout that replaced this one was paid first. The later choice stays in force, whatever the order in which the
  // notifications arrive.
  if (current && !isSame && payment.status === 'replaced' && current.createdAt > payment.createdAt) {
    return {
      accountId,
      beforeCommit: () => provider.cancel(fact.subscriptionRef, 'now'),
      statements: [recordPayment],
      changes: [eventChange(event)],
      entry: { action: 'payment.receive', target: payment.id, details: { plan } },
    };
  }
  return {
    accountId,
    // Upgrades cancel the current subscription.
    ...(current?.provider === provider.name &&
      !isSame && { beforeCommit: () => provider.cancel(current.providerRef, 'now') }),
    statements: [
      recordPayment,
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
    changes: [eventChange(event)],
    entry: { action: 'plan.change', target: payment.id, details: { plan } },
  };
};
