import { eq } from 'drizzle-orm';
import { endSubscription } from '../billing/cancel-subscription.ts';
import { endCheckouts } from '../billing/end-checkouts.ts';
import { NotConfigured } from '../billing/provider/providers.ts';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { forgetPlace } from '../db/room.ts';
import { accounts, users } from '../db/schema.ts';
import { accountErased } from '../mail/account-templates.ts';
import { sendMail } from '../mail/send.ts';
import { endOtherSessions } from '../sessions/sessions.ts';
import { logError } from '../shared/text/log.ts';
import { deleteInvitationsOf } from '../users/invitations.ts';
import { refuseLateUser } from '../users/late-user.ts';
import { deleteRows } from './rows.ts';

// What erases an account from D1. Its gate takes these steps, see `openErasing`. Each of them can be repeated, and the account's
// own row goes last.

/** Why an account is erased: that was asked for, or its user was never committed. */
export type Reason = 'requested' | 'no_user';

/** Returns why the account is to be erased now, or otherwise when that has to be looked at again. */
export const findEnd = async ({
  db,
  accountId,
}: Ctx): Promise<{ reason: Reason | null; laterMs: number | null }> => {
  const nowMs = Date.now();
  const [account] = await db
    .select({ requested: accounts.eraseAt, no_user: accounts.userDueAt })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  const { requested = null, no_user = null } = account ?? {};
  if (requested !== null && requested <= nowMs) return { reason: 'requested', laterMs: null };
  if (no_user !== null && no_user <= nowMs) return { reason: 'no_user', laterMs: null };
  return { reason: null, laterMs: requested ?? no_user };
};

/** Ends what was paid since the erasure was requested, or could be. Returns when to go on, or null if nothing is left. */
export const endCharges = async (ctx: Ctx): Promise<number | null> => {
  try {
    await endSubscription(ctx);
    return await endCheckouts(ctx);
  } catch (error) {
    if (error instanceof NotConfigured)
      logError('provider_not_configured', error, { account_id: ctx.accountId });
    throw error;
  }
};

/** Deletes the user, from which nobody can return. */
const deleteUser = async ({ env, accountId }: Ctx): Promise<void> => {
  const firstDb = firstDatabase(env);
  await firstDb.batch([
    endOtherSessions({ firstDb }, accountId, null),
    deleteInvitationsOf({ firstDb }, accountId),
    firstDb.delete(users).where(eq(users.accountId, accountId)),
  ]);
};

/** Returns whether the account has no user, and won't get one anymore. */
const refuseUser = async ({ env, db, accountId }: Ctx): Promise<boolean> => {
  const firstDb = firstDatabase(env);
  const [, found] = await firstDb.batch([
    refuseLateUser(firstDb, accountId, Date.now()),
    firstDb.select({ id: users.accountId }).from(users).where(eq(users.accountId, accountId)),
  ]);
  if (found.length === 0) return true;
  await db.update(accounts).set({ userDueAt: null }).where(eq(accounts.id, accountId));
  return false;
};

/** Makes sure that nobody signs in to the account anymore. Returns false if it has a user after all, and stays. */
export const endUser = async (ctx: Ctx, reason: Reason): Promise<boolean> => {
  if (reason === 'no_user') return refuseUser(ctx);
  await deleteUser(ctx);
  return true;
};

/**
 * Sends the last email, and empties the account's row, which only marks the unfinished work from then on. Whoever has not
 * finished their registration gets no email.
 */
const sendLastMail = async ({ env, db, accountId }: Ctx, reason: Reason): Promise<void> => {
  const [account] = await db
    .select({ email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  if (!account || account.email === '') return;
  if (reason === 'requested')
    await sendMail(env, { to: account.email, content: accountErased(), accountId, isUnverified: false });
  await db
    .update(accounts)
    .set({ email: '', name: null, customerRef: null, allowedOrigins: [] })
    .where(eq(accounts.id, accountId));
};

/** Deletes everything but the account's own row. `spend` is as in `deleteRows`. Returns whether that is done. */
export const eraseRows = async (
  ctx: Ctx,
  reason: Reason,
  spend: (queries: number) => boolean,
): Promise<boolean> => {
  const { env, db, accountId } = ctx;
  if (!(await deleteRows(firstDatabase(env), accountId, spend))) return false;
  if (!(await deleteRows(db, accountId, spend))) return false;
  await sendLastMail(ctx, reason);
  return true;
};

export const deleteAccount = async ({ env, db, accountId }: Ctx): Promise<void> => {
  await db.delete(accounts).where(eq(accounts.id, accountId));
  await forgetPlace(env, accountId);
};
