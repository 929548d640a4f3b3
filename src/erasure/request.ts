import { and, eq, exists } from 'drizzle-orm';
import type * as z from 'zod';
import { audit } from '../audit/audit.ts';
import { endSubscription } from '../billing/cancel-subscription.ts';
import { endCheckouts } from '../billing/end-checkouts.ts';
import { NotConfigured } from '../billing/provider/providers.ts';
import type { UserCtx } from '../db/ctx.ts';
import { accounts, type UserRow } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { erasureRequested } from '../mail/account-templates.ts';
import { letterTo } from '../mail/letter.ts';
import { tellIn } from '../mail/tell.ts';
import { endOtherSessions } from '../sessions/sessions.ts';
import { invalidField } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import { confirmCode, confirmPassword } from '../two-factor/confirm.ts';
import type { Client } from '../users/client.ts';
import type { eraseAccountInput } from './schemas.ts';

/** Time in which signing in keeps the account. */
const UNDO_MS = 7 * DAY_MS;

/** Once an erasure is requested, nothing depends on these: the gate refuses what is left of the sessions. */
const prepareErasure = async (ctx: UserCtx): Promise<void> => {
  const { env, accountId } = ctx;
  const results = await Promise.allSettled<unknown>([
    endOtherSessions(ctx, accountId, null),
    gateOf(env, accountId).eraseDue(UNDO_MS),
  ]);
  for (const result of results)
    if (result.status === 'rejected')
      logError('erasure_not_prepared', result.reason, { account_id: accountId });
};

type Proof = z.infer<typeof eraseAccountInput>;

/** Returns the owner. With two-factor authentication, a code is used up. */
const confirmOwner = async (ctx: UserCtx, proof: Proof, client: Client): Promise<UserRow> => {
  const user = await confirmPassword(ctx, proof.current_password, client);
  if (proof.confirm !== user.email)
    throw invalidField('confirm', 'must be the email address of this account');
  if (user.twoFactorEnabledAt === null) return user;
  if (proof.code === undefined)
    throw invalidField('code', 'is required, because two-factor authentication is on');
  return confirmCode(ctx, user, proof.code, client, async ({ statements }) => {
    await ctx.firstDb.batch(statements);
    return user;
  });
};

/**
 * Schedules the erasure of the caller's account. One commit does it, from which on its API keys and sessions are refused: if
 * anything fails before, nothing has changed but the subscription and checkouts, and the caller repeats the call. Returns the time.
 */
export const requestErasure = async (ctx: UserCtx, proof: Proof, client: Client): Promise<number> => {
  const { db, accountId } = ctx;
  const user = await confirmOwner(ctx, proof, client);
  // First, so that no payment starts another subscription. What fails is repeated each hour, and before the account's rows go.
  await endCheckouts(ctx).catch((error: unknown) =>
    logError('checkouts_not_ended', error, { account_id: accountId }),
  );
  await endSubscription(ctx).catch((error: unknown) => {
    if (!(error instanceof NotConfigured)) throw error;
    // The owner can leave without the keys. The account's rows stay until the keys are set.
    logError('provider_not_configured', error, { account_id: accountId });
  });
  const eraseAt = Date.now() + UNDO_MS;
  const isRequested = and(eq(accounts.id, accountId), eq(accounts.eraseAt, eraseAt));
  const told = await tellIn(
    ctx,
    db,
    letterTo(user, erasureRequested(client.origin, eraseAt)),
    exists(db.select({ id: accounts.id }).from(accounts).where(isRequested)),
  );
  await commit(
    ctx,
    [
      audit(ctx, 'account.erase', null),
      db.update(accounts).set({ eraseAt }).where(eq(accounts.id, accountId)),
      ...told.statements,
    ],
    [{ kind: 'account', ref: accountId }],
    { isBeyondLimits: true },
  );
  told.send();
  await prepareErasure(ctx);
  return eraseAt;
};
