import { and, asc, eq, lte, not, sql } from 'drizzle-orm';
import { auditFirst } from '../audit/audit.ts';
import { firstDatabase } from '../db/client.ts';
import type { DatabaseCtx, PublicCtx, UserCtx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { auditLog, type UserRow, users, userTokens } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { tell } from '../mail/tell.ts';
import { emailChangeByOperator } from '../mail/templates.ts';
import { invalidField } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { logError } from '../shared/text/log.ts';
import { copyIsDue, copyUserNow } from '../users/copy.ts';
import { isReserved } from '../users/reserved-emails.ts';
import { deleteTokens, isUnused, newUserToken } from '../users/user-tokens.ts';
import { accountOf, getUser } from '../users/user.ts';
import { refuseTaken } from './change-email.ts';
import { leaveAddress } from './leave-address.ts';

// The operator changes the address of a user who has lost the mailbox. The operator can't know whether that is true, so the change
// waits, and the old address is told: signing in stops it. Nobody gets the row's token. Its end is when the change takes effect.

type Pending = typeof userTokens.$inferSelect;

const isPending = eq(userTokens.purpose, 'operator_email');

const findPending = ({ firstDb }: Pick<PublicCtx, 'firstDb'>, accountId: string) =>
  firstDb
    .select()
    .from(userTokens)
    .where(and(eq(userTokens.accountId, accountId), isPending))
    .get();

/**
 * Notes that the operator has asked for the change that is pending, and tells the owner of it again. Returns false if it is no
 * longer pending: the owner has signed in meanwhile, so whoever asks starts anew.
 */
const tellAgain = async (
  ctx: UserCtx,
  user: UserRow,
  { tokenHash, email, expiresAt }: Pending,
  origin: string,
): Promise<boolean> => {
  const isStillPending = isUnused(tokenHash);
  const told = await tell(
    ctx,
    letterTo(user, emailChangeByOperator(origin, email, expiresAt)),
    isStillPending,
  );
  const [noted] = await ctx.firstDb.batch([
    auditFirst(ctx, 'email.request_change', null, null, isStillPending).returning({ id: auditLog.id }),
    ...told.statements,
  ]);
  if (noted.length > 0) told.send();
  return noted.length > 0;
};

/** Lets the address change in 48 hours. A repeat changes nothing, and another address starts anew. Returns when that is. */
export const requestOperatorChange = async (ctx: UserCtx, email: string, origin: string): Promise<number> => {
  const { firstDb, accountId } = ctx;
  const user = await getUser(ctx, accountId);
  if (email === user.email) throw invalidField('email', 'is already the email address of this account');
  await refuseTaken(ctx, email, accountId);
  const pending = await findPending(ctx, accountId);
  if (pending?.email === email && (await tellAgain(ctx, user, pending, origin))) return pending.expiresAt;
  const { row } = newUserToken(ctx, accountId, 'operator_email', email);
  const told = await tell(ctx, letterTo(user, emailChangeByOperator(origin, email, row.expiresAt)));
  await firstDb.batch([
    deleteTokens(ctx, accountId, ['operator_email']),
    firstDb.insert(userTokens).values(row),
    auditFirst(ctx, 'email.request_change', null),
    ...told.statements,
  ]);
  told.send();
  return row.expiresAt;
};

/** The operator vouches for the new address, so it counts as proved. */
const carryOut = async (ctx: PublicCtx, { tokenHash, accountId, email }: Pending): Promise<void> => {
  const user = await getUser(ctx, accountId);
  const { firstDb } = ctx;
  const account = { ...accountOf(ctx, accountId), actor: SYSTEM };
  const told = await leaveAddress(ctx, user, email, settingsOf(ctx.env).publicOrigin);
  const isUsable = and(isUnused(tokenHash), not(isReserved(email, accountId)));
  try {
    await firstDb.batch([
      firstDb
        .update(users)
        .set({
          email: sql`CASE WHEN ${isUsable} THEN ${email} END`,
          emailVerifiedAt: Date.now(),
          ...copyIsDue(),
        })
        .where(eq(users.accountId, accountId)),
      auditFirst(account, 'email.change', null),
      ...told.statements,
      deleteTokens(ctx, accountId, ['operator_email', 'verify_email', 'change_email', 'reset_password']),
    ]);
  } catch (error) {
    // Somebody has signed in meanwhile, or another account has the address by now.
    if (!violatesNotNull(error, 'users.email') && !violatesUnique(error, 'users.email')) throw error;
    await firstDb.delete(userTokens).where(eq(userTokens.tokenHash, tokenHash));
    return;
  }
  told.send();
  await copyUserNow(account);
};

/** The most changes in a run. One takes about 35 of the 1,000 queries that D1 allows. */
const MAX_CHANGES = 20;

/** What has waited until the account's address is proved. */
type ReleaseWaiting = (env: Env, accountId: string) => Promise<void>;

/** Carries out what is due. Returns whether more is due. The scheduled work runs every hour. */
export const carryOutOperatorChanges = async (
  { env, db }: DatabaseCtx,
  releaseWaiting: ReleaseWaiting,
): Promise<boolean> => {
  const due = await db
    .select()
    .from(userTokens)
    .where(and(lte(userTokens.expiresAt, Date.now()), isPending))
    .orderBy(asc(userTokens.expiresAt))
    .limit(MAX_CHANGES);
  const mails: Promise<unknown>[] = [];
  const waitUntil: PublicCtx['waitUntil'] = (mail) => void mails.push(mail);
  const ctx: PublicCtx = { env, firstDb: firstDatabase(env), ip: null, waitUntil };
  let done = 0;
  for (const pending of due) {
    try {
      await carryOut(ctx, pending);
      done++;
      await releaseWaiting(env, pending.accountId);
    } catch (error) {
      logError('email_not_changed', error, { account_id: pending.accountId });
    }
  }
  await Promise.all(mails);
  return done > 0 && due.length === MAX_CHANGES;
};
