import { and, eq, exists, lte } from 'drizzle-orm';
import { getAccount } from '../db/account.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { accounts, appliedFacts, isLive, type SubscriptionRow, subscriptions } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { newEvent } from '../shared/text/events.ts';
import { type Effect, findSubscription } from './effect.ts';
import { endMarker, overName } from './guards.ts';
import type { Fact, ProviderName } from './provider.ts';

// What was canceled or resumed at the provider, by its support or on its own pages.

type Cancellation = Extract<Fact, { kind: 'cancellation' }>;

const cancelledEffect = async (
  ctx: DatabaseCtx,
  subscription: SubscriptionRow,
  periodEndMs: number,
): Promise<Effect> => {
  const { db } = ctx;
  const { accountId, id, plan } = subscription;
  const { email, planUntil } = await getAccount({ ...ctx, accountId });
  const nowMs = Date.now();
  // As with a cancellation here, it must not extend an unpaid period beyond its grace period.
  const endsAt = Math.max(nowMs, Math.min(periodEndMs, planUntil ?? Infinity));
  const isSubscription = eq(subscriptions.id, id);
  const isUncancelled = and(isSubscription, isLive, eq(subscriptions.status, subscription.status));
  const event = newEvent('subscription.cancelled', nowMs, {
    subscription_id: id,
    plan,
    ends_at: isoTime(endsAt),
    customer_email: email,
  });
  return {
    accountId,
    condition: exists(db.select({ id: subscriptions.id }).from(subscriptions).where(isUncancelled)),
    statements: [
      db
        .update(subscriptions)
        .set({ status: 'cancelled', cancelledAt: nowMs, endsAt, updatedAt: nowMs })
        .where(isSubscription),
      db.update(accounts).set({ planUntil: endsAt }).where(eq(accounts.id, accountId)),
      ...endMarker(ctx, subscription),
    ],
    changes: [eventChange(event)],
    entry: { action: 'subscription.cancel', target: id, details: { at: 'period_end' } },
  };
};

const resumedEffect = (
  { db }: DatabaseCtx,
  { accountId, id }: SubscriptionRow,
  { isFailing, readAtMs }: Cancellation,
): Effect => {
  const isSubscription = eq(subscriptions.id, id);
  // A cancellation here may be younger than what was read at the provider.
  const isCancelled = and(
    isSubscription,
    eq(subscriptions.status, 'cancelled'),
    lte(subscriptions.updatedAt, readAtMs),
  );
  return {
    accountId,
    condition: exists(db.select({ id: subscriptions.id }).from(subscriptions).where(isCancelled)),
    statements: [
      db
        .update(subscriptions)
        .set({
          status: isFailing ? 'past_due' : 'active',
          cancelledAt: null,
          endsAt: null,
          updatedAt: Date.now(),
        })
        .where(isSubscription),
      // The grace period of an unpaid invoice goes on.
      ...(isFailing ? [] : [db.update(accounts).set({ planUntil: null }).where(eq(accounts.id, accountId))]),
      db.delete(appliedFacts).where(eq(appliedFacts.name, overName(id))),
    ],
    changes: [],
    entry: { action: 'subscription.resume', target: id },
  };
};

export const cancellationEffect = async (
  ctx: DatabaseCtx,
  provider: ProviderName,
  fact: Cancellation,
): Promise<Effect | null> => {
  const subscription = await findSubscription(ctx, provider, fact.subscriptionRef);
  if (!subscription || subscription.status === 'ended') return null;
  const isCancelled = subscription.status === 'cancelled';
  if (fact.endsAtMs !== null) return isCancelled ? null : cancelledEffect(ctx, subscription, fact.endsAtMs);
  return isCancelled && subscription.updatedAt <= fact.readAtMs
    ? resumedEffect(ctx, subscription, fact)
    : null;
};
