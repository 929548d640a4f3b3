import { and, eq, gte, notExists, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { auditFirst } from '../audit/audit.ts';
import type { Ctx, PublicCtx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { recoveryCodes, type UserRow, users, userTokens } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { NOTHING_TOLD, tell, type Told } from '../mail/tell.ts';
import { emailRestored, emailTakenBack, tokenUrl } from '../mail/templates.ts';
import { endOtherSessions } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import type { Client } from '../users/client.ts';
import { copyIsDue, copyUserNow } from '../users/copy.ts';
import { forgetOtherBrowsers } from '../users/known-browsers.ts';
import { unknownAccountHash } from '../users/passwords.ts';
import {
  deleteExpiredTokens,
  deleteTokens,
  findUserToken,
  isUnused,
  newUserToken,
  RESTORE_MS,
} from '../users/user-tokens.ts';
import { accountOf, getUser } from '../users/user.ts';

interface WayBack {
  tokenHash: string;
  accountId: string;
  email: string;
  expiresAt: number;
}

const ENDED_WITH_ADDRESS = [
  'verify_email',
  'change_email',
  'reset_password',
  'two_factor',
  'operator_email',
] as const;

/** When the address was replaced. */
const changedAtOf = ({ expiresAt }: WayBack): number => expiresAt - RESTORE_MS;

/** Fails the batch if the token has just been used. */
const emailIfUnused = ({ tokenHash, email }: WayBack) =>
  sql`CASE WHEN ${isUnused(tokenHash)} THEN ${email} END`;

/** Statement that gives the user the address back, and takes from whoever changed it every way to sign in. */
const restoreUser = ({ firstDb }: PublicCtx, way: WayBack) => {
  // What was set up since the change may be a thief's.
  const ifOlder = (column: SQLiteColumn) =>
    sql`iif(${users.twoFactorEnabledAt} < ${changedAtOf(way)}, ${column}, NULL)`;
  const nowMs = Date.now();
  return firstDb
    .update(users)
    .set({
      email: emailIfUnused(way),
      emailVerifiedAt: nowMs,
      passwordHash: unknownAccountHash(),
      passwordChangedAt: nowMs,
      twoFactorSecret: ifOlder(users.twoFactorSecret),
      twoFactorEnabledAt: ifOlder(users.twoFactorEnabledAt),
      twoFactorLastStep: ifOlder(users.twoFactorLastStep),
      twoFactorResetAt: null,
      ...copyIsDue(),
    })
    .where(eq(users.accountId, way.accountId));
};

/** Ends the ways back of addresses that the account has had since the one that is restored: they may be a thief's. */
const endLaterWaysBack = ({ firstDb }: PublicCtx, { accountId, expiresAt }: WayBack) =>
  firstDb
    .delete(userTokens)
    .where(
      and(
        eq(userTokens.accountId, accountId),
        eq(userTokens.purpose, 'restore_email'),
        gte(userTokens.expiresAt, expiresAt),
      ),
    );

const deleteCodes = ({ firstDb }: PublicCtx, accountId: string) => {
  const isUser = and(eq(users.accountId, accountId), sql`${users.twoFactorEnabledAt} IS NOT NULL`);
  const hasTwoFactor = firstDb.select({ id: users.accountId }).from(users).where(isUser);
  return firstDb
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.accountId, accountId), notExists(hasTwoFactor)));
};

/** The address is the owner's again, and nobody can sign in. The token still works, should what follows fail. */
const takeBack = (ctx: PublicCtx, way: WayBack, told: Told) => {
  const { accountId } = way;
  return ctx.firstDb.batch([
    deleteTokens(ctx, accountId, ENDED_WITH_ADDRESS),
    // While the user has the other address, so that one of parallel calls tells it.
    ...told.statements,
    restoreUser(ctx, way),
    deleteCodes(ctx, accountId),
    endOtherSessions(ctx, accountId, null),
    forgetOtherBrowsers(ctx, accountId, null),
  ]);
};

/** Uses up the token. Of parallel calls, one does. */
const useUp = (ctx: PublicCtx, way: WayBack, reset: ReturnType<typeof newUserToken>['row'], told: Told) => {
  const { firstDb } = ctx;
  return firstDb.batch([
    firstDb
      .update(users)
      .set({ email: emailIfUnused(way) })
      .where(eq(users.accountId, way.accountId)),
    endLaterWaysBack(ctx, way),
    firstDb.insert(userTokens).values(reset),
    auditFirst(accountOf(ctx, way.accountId), 'email.restore', null),
    deleteExpiredTokens(ctx),
    ...told.statements,
  ]);
};

/** Tells the address from which the account is taken, if the user still has it. */
const tellOther = (ctx: PublicCtx, user: UserRow, email: string) =>
  tell(ctx, letterTo(user, emailTakenBack(email)), eq(users.email, user.email));

/** Ends the API keys and webhooks that were made since a time. */
type EndMadeSince = (ctx: Ctx, sinceMs: number) => Promise<void>;

/**
 * Takes a changed address back, with the link that the old address got. The password stops working, because whoever changed
 * the address knew it, and what was made since ends. Returns the address.
 */
export const restoreEmail = async (
  ctx: PublicCtx,
  token: string,
  { origin }: Client,
  endMadeSince: EndMadeSince,
) => {
  const way = await findUserToken(ctx, token, ['restore_email']);
  const { accountId, email } = way;
  const user = await getUser(ctx, accountId);
  const account = accountOf(ctx, accountId);
  const reset = newUserToken(ctx, accountId, 'reset_password', email);
  const content = emailRestored(tokenUrl(origin, 'reset-password', reset.token));
  const toldOwner = await tell(ctx, { to: email, content, accountId, isUnverified: false });
  const toldOther = user.email === email ? NOTHING_TOLD : await tellOther(ctx, user, email);
  try {
    await takeBack(ctx, way, toldOther);
    await endMadeSince(account, changedAtOf(way));
    await useUp(ctx, way, reset.row, toldOwner);
  } catch (error) {
    if (violatesNotNull(error, 'users.email')) throw new AppError('invalid_token');
    throw violatesUnique(error, 'users.email') ? new AppError('email_taken') : error;
  }
  toldOwner.send();
  toldOther.send();
  await copyUserNow(account);
  return email;
};
