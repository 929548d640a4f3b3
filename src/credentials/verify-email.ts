import { and, eq, not, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import type { Ctx, PublicCtx, UserCtx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { type UserRow, users } from '../db/schema.ts';
import { hasMail } from '../mail/deliver.ts';
import { sendMail } from '../mail/send.ts';
import { NOTHING_TOLD } from '../mail/tell.ts';
import { tokenUrl, verifyEmail } from '../mail/templates.ts';
import { AppError, type ErrorDetail } from '../shared/app-error.ts';
import type { Client } from '../users/client.ts';
import { copyIsDue, copyUserNow } from '../users/copy.ts';
import { limitsOf } from '../users/known-browsers.ts';
import { type AttemptOutcome, mailLimits, secondStepLimits } from '../users/limits.ts';
import { checkPassword } from '../users/passwords.ts';
import { isReserved } from '../users/reserved-emails.ts';
import { consumeAttempts, settleAttempt } from '../users/throttle.ts';
import { deleteTokens, findUserToken, isUnused, newUserToken, storeToken } from '../users/user-tokens.ts';
import { accountOf, getUser } from '../users/user.ts';
import { refuseTaken } from './change-email.ts';
import { leaveAddress } from './leave-address.ts';
import type { verifyEmailInput } from './schemas.ts';

/** Sends the email by which a user proves that the account's email address is theirs. */
export const sendVerification = async (
  ctx: PublicCtx,
  { id, email }: { id: string; email: string },
  origin: string,
): Promise<void> => {
  if (!hasMail(ctx.env)) return;
  const { token, row } = newUserToken(ctx, id, 'verify_email', email);
  const content = verifyEmail(tokenUrl(origin, 'verify-email', token));
  const letter = { to: email, content, accountId: id, isUnverified: true };
  await sendMail(ctx.env, letter, () => storeToken(ctx, row));
};

/** Returns the caller's account if its email address is still to be verified. */
export const findUnverified = async (ctx: UserCtx) => {
  await consumeAttempts(ctx, mailLimits('verify', ctx.accountId));
  const { accountId, email, emailVerifiedAt } = await getUser(ctx, ctx.accountId);
  return emailVerifiedAt === null ? { id: accountId, email } : null;
};

const notProved = (message: string, details: ErrorDetail[] = []) =>
  new AppError('reauthentication_required', { message, ...(details.length > 0 && { details }) });

/** Throws unless the password is the user's. Guesses are limited apart from those of strangers, who have no token. */
const requirePassword = async (
  ctx: PublicCtx,
  user: UserRow,
  password: string | undefined,
  client: Client,
): Promise<void> => {
  if (password === undefined) throw notProved('Enter the Password of Your Account');
  const limits = await limitsOf(ctx, user.email, client, secondStepLimits('token', client.ip, user));
  const reservations = await consumeAttempts(ctx, limits);
  let outcome: AttemptOutcome = 'error';
  try {
    const { matches } = await checkPassword(password, user.passwordHash);
    outcome = matches ? 'success' : 'failure';
  } finally {
    await settleAttempt(ctx, reservations, outcome);
  }
  if (outcome === 'failure')
    throw notProved('Wrong Password', [{ path: 'password', message: 'The password is wrong.' }]);
};

/**
 * Takes the token of a new account's email, or of a changed email address, which then replaces the present one. Whoever reads
 * the email may not be who has the account, so the caller proves that, too: the address would be theirs otherwise. Returns the
 * account and its address.
 */
export const confirmEmail = async (
  ctx: PublicCtx,
  { token, password }: z.infer<typeof verifyEmailInput>,
  client: Client,
  session: { accountId: string; id: string } | null,
) => {
  const { tokenHash, accountId, purpose, email } = await findUserToken(ctx, token, [
    'verify_email',
    'change_email',
  ]);
  const isChange = purpose === 'change_email';
  const user = await getUser(ctx, accountId);
  const sessionId = session?.accountId === accountId ? session.id : null;
  if (sessionId === null) await requirePassword(ctx, user, password, client);
  if (isChange) await refuseTaken(ctx, email, accountId);
  // A token that was sent while the address changed must not change it back.
  const isUsable = and(
    isUnused(tokenHash),
    isChange ? not(isReserved(email, accountId)) : eq(users.email, email),
  );
  const told = isChange ? await leaveAddress(ctx, user, email, client.origin) : NOTHING_TOLD;
  const account: Ctx = { ...accountOf(ctx, accountId), actor: { kind: 'session', id: sessionId } };
  try {
    const [changed] = await ctx.firstDb.batch([
      // Fails the batch if the token has just been used.
      ctx.firstDb
        .update(users)
        .set({
          email: sql`CASE WHEN ${isUsable} THEN ${email} END`,
          emailVerifiedAt: Date.now(),
          ...copyIsDue(),
        })
        .where(eq(users.accountId, accountId))
        .returning({ id: users.accountId }),
      auditFirst(account, isChange ? 'email.change' : 'email.verify', null),
      ...told.statements,
      // Tokens that were sent to the old address end with it.
      deleteTokens(
        ctx,
        accountId,
        isChange ? ['verify_email', 'change_email', 'reset_password'] : ['verify_email'],
      ),
    ]);
    // The account was just erased.
    if (changed.length === 0) throw new AppError('invalid_token');
  } catch (error) {
    if (violatesNotNull(error, 'users.email')) throw new AppError('invalid_token');
    throw violatesUnique(error, 'users.email') ? new AppError('email_taken') : error;
  }
  told.send();
  await copyUserNow(account);
  return { accountId, email };
};
