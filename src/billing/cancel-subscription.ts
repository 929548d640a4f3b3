import { and, eq, exists } from 'drizzle-orm';
import { auditIf } from '../audit/audit.ts';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesUnique } from '../db/errors.ts';
import { giveUpClaim } from '../db/idempotency.ts';
import { isLive, type SubscriptionRow, subscriptions, accounts } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { AppError } from '../shared/app-error.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { newEvent } from '../shared/text/events.ts';
import { findUnended } from './billing.ts';
import { applyState } from './facts/apply.ts';
import { endMarker, accountWhileLive } from './facts/guards.ts';
import type { Provider } from './provider/provider.ts';
import { getProvider } from './provider/providers.ts';

/**
 * Asks the provider first if the period or the plan is over here: it may have renewed or ended the subscription without having
 * told yet, and it may still try to collect for a plan that is over here. Returns null if the subscription has ended.
 */
const readIfDue = async (ctx: Ctx, provider: Provider, row: SubscriptionRow) => {
  if (Math.min(row.periodEnd, row.endsAt ?? Infinity) > Date.now()) return row;
  const subject = { kind: 'subscription', ref: row.providerRef, endsAtMs: row.endsAt } as const;
  await applyState(ctx, provider, subject);
  const current = await findUnended(ctx);
  return current?.id === row.id ? current : null;
};

/**
 * Reads a subscription that a provider's notification has ended in the meantime, or an upgrade has replaced. A commit does it, so
 * that the Idempotency-Key is claimed as for a cancellation of our own, and every verify sees the end before it is answered.
 */
const readOvertaken = async (ctx: Ctx, id: string): Promise<SubscriptionRow | null> => {
  const [[row]] = await commit(
    ctx,
    [ctx.db.select().from(subscriptions).where(eq(subscriptions.id, id))],
    [{ kind: 'account', ref: ctx.accountId }],
    { isBeyondLimits: true, claimsId: id },
  );
  return row && row.endsAt !== null ? row : null;
};

/** Cancels the subscription, unless there is nothing to cancel. */
const cancelUnended = async (ctx: Ctx, at: 'period_end' | 'now'): Promise<SubscriptionRow | null> => {
  const { db, accountId } = ctx;
  const found = await findUnended(ctx);
  if (!found) return null;
  // Canceling gives nothing away, so a plan of the sandbox can be canceled wherever the service runs.
  const provider = await getProvider(ctx.env, found.provider, null);
  const subscription = await readIfDue(ctx, provider, found);
  if (!subscription) return null;
  const isCancelled = subscription.status === 'cancelled';
  if (isCancelled && at === 'period_end') return null;
  const { email, planUntil } = await getAccount(ctx);
  await provider.cancel(subscription.providerRef, at);

  const nowMs = Date.now();
  // Canceling must not extend an unpaid period beyond its grace period.
  const paidUntil = Math.min(subscription.periodEnd, planUntil ?? Infinity);
  const endsAt = at === 'now' ? Math.min(nowMs, subscription.endsAt ?? nowMs) : Math.max(nowMs, paidUntil);
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
    const row = await readOvertaken(ctx, subscription.id);
    if (row) return row;
  }
  await giveUpClaim(ctx, subscription.id);
  return null;
};

/** Cancels the subscription. The gate applies the paid limits until the subscription ends. */
export const cancelSubscription = async (ctx: Ctx, at: 'period_end' | 'now'): Promise<SubscriptionRow> => {
  const cancelled = await cancelUnended(ctx, at);
  if (!cancelled) throw new AppError('no_active_subscription');
  return cancelled;
};

/** Ends whatever subscription the account has, so that nothing is charged for it anymore. */
export const endSubscription = async (ctx: Ctx): Promise<void> => {
  await cancelUnended(ctx, 'now');
};
