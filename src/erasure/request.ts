import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { audit } from '../audit/audit.ts';
import { findLiveSubscription } from '../billing/billing.ts';
import { cancelSubscription } from '../billing/cancel-subscription.ts';
import { expirePending } from '../billing/expire.ts';
import type { UserCtx } from '../db/ctx.ts';
import { accounts } from '../db/schema.ts';
import { commit } from '../gate/worker/feed.ts';
import { letterTo } from '../mail/send.ts';
import { erasureRequested } from '../mail/templates.ts';
import { endOtherSessions } from '../sessions/sessions.ts';
import { invalidField } from '../shared/app-error.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import type { Client } from '../users/client.ts';
import { confirmPassword } from '../users/confirm-password.ts';
import type { eraseAccountInput } from './schemas.ts';

/** Time in which signing in keeps the account. */
const UNDO_MS = 7 * DAY_MS;

/**
 * Schedules the erasure of the caller's account. From the return on, its API keys are refused and nobody is signed in.
 * Returns the time, and an email to send after the response. A repeat after a failure has the same result.
 */
export const requestErasure = async (
  ctx: UserCtx,
  { current_password, confirm }: z.infer<typeof eraseAccountInput>,
  { origin }: Client,
) => {
  const { db, accountId } = ctx;
  const user = await confirmPassword(ctx, current_password);
  if (confirm !== user.email) throw invalidField('confirm', 'must be the email address of this account');
  // First, so that no payment starts another subscription.
  await expirePending(ctx, origin);
  if (await findLiveSubscription(ctx)) await cancelSubscription(ctx, 'now');
  const eraseAt = Date.now() + UNDO_MS;
  await commit(
    ctx,
    [
      audit(ctx, 'account.erase', null),
      db.update(accounts).set({ eraseAt }).where(eq(accounts.id, accountId)),
    ],
    [{ kind: 'account', ref: accountId }],
    { isBeyondLimits: true },
  );
  // Last, so that the caller can repeat a call that failed before.
  await endOtherSessions(ctx, accountId, null);
  return { eraseAt, letter: letterTo(user, erasureRequested(origin, eraseAt)) };
};
