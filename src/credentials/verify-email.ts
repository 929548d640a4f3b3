import { and, eq, sql } from 'drizzle-orm';
import { auditFirst } from '../audit/audit.ts';
import type { PublicCtx, UserCtx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { users, userTokens } from '../db/schema.ts';
import { hasMail } from '../mail/deliver.ts';
import { type Letter, sendMail } from '../mail/send.ts';
import { emailChanged, tokenUrl, verifyEmail } from '../mail/templates.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/text/log.ts';
import { mailLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import {
  deleteExpiredTokens,
  deleteTokens,
  findUserToken,
  isUnused,
  newUserToken,
} from '../users/user-tokens.ts';
import { accountOf, copyToAccount, getUser } from '../users/user.ts';

/** Sends the email by which a user proves that the account's email address is theirs. */
export const sendVerification = async (
  ctx: PublicCtx,
  { id, email }: { id: string; email: string },
  origin: string,
): Promise<void> => {
  if (!hasMail(ctx.env)) return;
  const { token, row } = newUserToken(ctx, id, 'verify_email', email);
  await ctx.firstDb.batch([ctx.firstDb.insert(userTokens).values(row), deleteExpiredTokens(ctx)]);
  const content = verifyEmail(tokenUrl(origin, 'verify-email', token));
  await sendMail(ctx.env, { to: email, content, accountId: id, isUnverified: true });
};

/** Returns the caller's account if its email address is still to be verified. */
export const findUnverified = async (ctx: UserCtx) => {
  await consumeAttempts(ctx, mailLimits('verify', ctx.accountId));
  const { accountId, email, emailVerifiedAt } = await getUser(ctx, ctx.accountId);
  return emailVerifiedAt === null ? { id: accountId, email } : null;
};

/** Takes the token of a new account's email, or of a changed email address, which then replaces the present one. */
export const confirmEmail = async (ctx: PublicCtx, token: string) => {
  const { tokenHash, accountId, purpose, email } = await findUserToken(ctx, token, [
    'verify_email',
    'change_email',
  ]);
  const isChange = purpose === 'change_email';
  const { email: oldEmail } = await getUser(ctx, accountId);
  // A token that was sent while the address changed must not change it back.
  const isUsable = and(isUnused(tokenHash), isChange ? undefined : eq(users.email, email));
  const account = accountOf(ctx, accountId);
  try {
    await ctx.firstDb.batch([
      // Fails the batch if the token has just been used.
      ctx.firstDb
        .update(users)
        .set({ email: sql`CASE WHEN ${isUsable} THEN ${email} END`, emailVerifiedAt: Date.now() })
        .where(eq(users.accountId, accountId)),
      auditFirst(account, isChange ? 'email.change' : 'email.verify', null),
      // Tokens that were sent to the old address end with it.
      deleteTokens(
        ctx,
        accountId,
        isChange ? ['verify_email', 'change_email', 'reset_password'] : ['verify_email'],
      ),
    ]);
  } catch (error) {
    if (violatesNotNull(error, 'users.email')) throw new AppError('invalid_token');
    throw violatesUnique(error, 'users.email') ? new AppError('email_taken') : error;
  }
  // The next look at the account completes a copy that fails.
  const known = { isUnverified: false, ...(isChange && { email }) };
  await copyToAccount(account, known).catch((error) => logError('email_not_copied', error));
  const letter: Letter = { to: oldEmail, content: emailChanged(email), accountId, isUnverified: false };
  return { email, letter: isChange ? letter : null };
};
