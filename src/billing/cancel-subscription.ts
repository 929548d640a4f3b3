import { and, eq, exists } from 'drizzle-orm';
import { auditIf } from '../audit/audit.ts';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesUnique } from '../db/errors.ts';
import { isLive, type SubscriptionRow, subscriptions, accounts } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/feed.ts';
import { AppError } from '../shared/app-error.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { newEvent } from '../shared/text/events.ts';
import { findLiveSubscription } from './billing.ts';
import { applyState } from './facts/apply.ts';
import { endMarker, accountWhileLive } from './facts/guards.ts';
import type { Provider } from './provider/provider.ts';
import { findProvider } from './provider/providers.ts';

/** A renewal whose notification is late counts first, because the plan is paid for until its end. */
const renewIfDue = async (ctx: Ctx, provider: Provider, row: SubscriptionRow): Promise<SubscriptionRow> => {
  if (row.periodEnd > Date.now()) return row;
  const subject = { kind: 'subscription', ref: row.providerRef, endsAtMs: row.endsAt } as const;
  await applyState(ctx, provider, subject);
  const renewed = await findLiveSubscription(ctx);
  if (renewed?.id !== row.id) throw new AppError('no_active_subscription');
  return renewed;
};

/** Cancels the subscription. The gate applies the paid limits until the subscription ends. */
export const cancelSubscription = async (ctx: Ctx, at: 'period_end' | 'now'): Promise<SubscriptionRow> => {
  const { db, accountId } = ctx;
  const found = await findLiveSubscription(ctx);
  if (!found) throw new AppError('no_active_subscription');
  // Canceling gives nothing away, so a plan of the sandbox can be canceled wherever the service runs.
  const provider = await findProvider(ctx.env, found.provider, null);
  if (!provider)
    throw new AppError('unavailable', {
      message: 'The payment provider of this subscription is not configured on this service.',
    });
  const subscription = at === 'now' ? found : await renewIfDue(ctx, provider, found);
  const isCancelled = subscription.status === 'cancelled';
  if (isCancelled && at === 'period_end') throw new AppError('no_active_subscription');
  const { email, planUntil } = await getAccount(ctx);
  await provider.cancel(subscription.providerRef, at);

  const nowMs = Date.now();
  // Canceling must not extend an unpaid period beyond its grace period.
  const paidUntil = Math.min(subscription.periodEnd, planUntil ?? Infinity);
  const endsAt = at === 'now' ? nowMs : Math.max(nowMs, paidUntil);
  const cancelled = {
    status: 'cancelled' as const,
    cancelledAt: nowMs,
    endsAt,
    readAt: nowMs,
    updatedAt: nowMs,
  };
  const event = newEvent('subscription.cancelled', nowMs, {
    subscription_id: subscription.id,
    plan: subscription.plan,
    ends_at: isoTime(endsAt),
    customer_email: email,
  });
  try {
    const isCancelable = and(eq(subscriptions.id, subscription.id), isLive);
    const willCancel = exists(db.select({ id: subscriptions.id }).from(subscriptions).where(isCancelable));
    const [, rows] = await commit(
      ctx,
      [
        auditIf(ctx, willCancel, 'subscription.cancel', subscription.id, { at }),
        db.update(subscriptions).set(cancelled).where(isCancelable).returning(),
        db
          .update(accounts)
          .set({ planUntil: endsAt })
          .where(accountWhileLive(ctx, accountId, subscription.id)),
        ...endMarker(ctx, subscription),
      ],
      [{ kind: 'account', ref: accountId }, ...(isCancelled ? [] : [eventChange(event)])],
      { isBeyondLimits: true, claimsId: subscription.id },
    );
    if (rows[0]) return rows[0];
  } catch (error) {
    if (!violatesUnique(error, 'applied_facts.name')) throw error;
    // In the meantime, a provider's notification has ended the subscription or an upgrade has replaced it.
    const [row] = await db.select().from(subscriptions).where(eq(subscriptions.id, subscription.id));
    if (row && row.endsAt !== null) return row;
  }
  throw new AppError('no_active_subscription');
};
