import { and, eq } from 'drizzle-orm';
import { exists } from 'drizzle-orm';
import { auditIf } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { giveUpClaim } from '../db/idempotency.ts';
import { appliedFacts, isLive, type SubscriptionRow, subscriptions, accounts } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { AppError } from '../shared/app-error.ts';
import { findLiveSubscription } from './billing.ts';
import { applyState } from './facts/apply.ts';
import { accountWhileLive, overName } from './facts/guards.ts';
import { getProvider } from './provider/providers.ts';
import { standingOf, withFacts } from './rules/standing.ts';

/** Lets a subscription go on that was canceled for the end of its period. */
export const resumeSubscription = async (ctx: Ctx, origin: string): Promise<SubscriptionRow> => {
  const { db, accountId } = ctx;
  const subscription = await findLiveSubscription(ctx);
  if (!subscription) throw new AppError('no_active_subscription');
  const { id, providerRef: ref, cancelledAt } = subscription;
  if (cancelledAt === null)
    throw new AppError('invalid_transition', { message: 'The subscription is not canceled.' });
  // Unlike a cancellation, this lets a plan go on, which the sandbox may do only where it sells plans.
  const provider = await getProvider(ctx.env, subscription.provider, origin);
  if (!(await provider.resume(ref))) {
    await applyState(ctx, provider, { kind: 'subscription', ref, endsAtMs: subscription.endsAt });
    throw new AppError('no_active_subscription');
  }

  const nowMs = Date.now();
  const resumed = withFacts(subscription, { cancelledAt: null, endsAt: null });
  const isResumable = and(eq(subscriptions.id, id), isLive, eq(subscriptions.cancelledAt, cancelledAt));
  const willResume = exists(db.select({ id: subscriptions.id }).from(subscriptions).where(isResumable));
  const [, , , [row]] = await commit(
    ctx,
    [
      auditIf(ctx, willResume, 'subscription.resume', id),
      db.delete(appliedFacts).where(and(eq(appliedFacts.name, overName(id)), willResume)),
      db
        .update(accounts)
        .set({ planUntil: standingOf(resumed).planUntil })
        .where(and(accountWhileLive(ctx, accountId, id), willResume)),
      db
        .update(subscriptions)
        .set({ status: resumed.status, cancelledAt: null, endsAt: null, readAt: nowMs, updatedAt: nowMs })
        .where(isResumable)
        .returning(),
    ],
    [{ kind: 'account', ref: accountId }],
    { isBeyondLimits: true, claimsId: id },
  );
  // A notification of the provider may have come first.
  const current = row ?? (await findLiveSubscription(ctx));
  if (!current || current.id !== id || current.cancelledAt !== null) {
    await giveUpClaim(ctx, id);
    throw new AppError('no_active_subscription');
  }
  return current;
};
