import { eq, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import type { Ctx, PublicCtx, UserCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { recoveryCodes, type UserRow, users } from '../db/schema.ts';
import { hasMail } from '../mail/deliver.ts';
import { letterTo } from '../mail/letter.ts';
import { sendMail } from '../mail/send.ts';
import { tell, type Told } from '../mail/tell.ts';
import {
  addressClaimed,
  passwordChanged,
  resetPassword as resetPasswordMail,
  tokenUrl,
} from '../mail/templates.ts';
import { endOtherSessions } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/text/log.ts';
import { startChallenge } from '../sign-in/challenge.ts';
import { signIn } from '../sign-in/sign-in.ts';
import { NO_TWO_FACTOR } from '../two-factor/code.ts';
import { confirmPassword, wrongPassword } from '../two-factor/confirm.ts';
import { withDueReset } from '../two-factor/reset.ts';
import type { Client } from '../users/client.ts';
import { copyIsDue, copyUserNow } from '../users/copy.ts';
import { forgetOtherBrowsers } from '../users/known-browsers.ts';
import { forgotPasswordLimits, resetPasswordLimits } from '../users/limits.ts';
import { hashPassword } from '../users/passwords.ts';
import { consumeAttempts } from '../users/throttle.ts';
import {
  deleteTokens,
  ENDED_WITH_PASSWORD,
  findUserToken,
  isUnused,
  newUserToken,
  storeToken,
} from '../users/user-tokens.ts';
import { accountOf, getUser, isSamePassword, setPassword } from '../users/user.ts';
import type { changePasswordInput, resetPasswordInput } from './schemas.ts';

/** Changes the caller's password and ends every other session. */
export const changePassword = async (
  ctx: UserCtx,
  input: z.infer<typeof changePasswordInput>,
  client: Client,
  sessionHash: string | null,
): Promise<void> => {
  const user = await confirmPassword(ctx, input.current_password, client);
  const passwordHash = await hashPassword(input.password);
  const changed = { ...user, passwordHash, passwordChangedAt: Date.now() };
  const told = await tell(ctx, letterTo(user, passwordChanged(client.origin)));
  try {
    await ctx.firstDb.batch([
      setPassword(ctx, changed, isSamePassword(user)),
      endOtherSessions(ctx, user.accountId, sessionHash),
      forgetOtherBrowsers(ctx, user.accountId, client.browserToken),
      deleteTokens(ctx, user.accountId, ENDED_WITH_PASSWORD),
      auditFirst(ctx, 'password.change', null),
      ...told.statements,
    ]);
  } catch (error) {
    throw violatesNotNull(error, 'users.password_hash') ? wrongPassword() : error;
  }
  told.send();
};

/**
 * Sends the email with which a user can set a new password. It runs after the response, which therefore is the same, and
 * takes as long, whether the email address is known or not, and whether a limit is reached or not.
 */
export const sendReset = async (ctx: PublicCtx, email: string, { ip, origin }: Client): Promise<void> => {
  if (!hasMail(ctx.env)) return;
  try {
    await consumeAttempts(ctx, forgotPasswordLimits(ip));
    const user = await ctx.firstDb.select().from(users).where(eq(users.email, email)).get();
    if (!user) return;
    const { token, row } = newUserToken(ctx, user.accountId, 'reset_password', email);
    const content = resetPasswordMail(tokenUrl(origin, 'reset-password', token));
    // Anybody may have asked, so it isn't the account's doing.
    const letter = { ...letterTo(user, content), isUnverified: false };
    await sendMail(ctx.env, letter, () => storeToken(ctx, row));
  } catch (error) {
    if (!(error instanceof AppError)) logError('reset_not_sent', error);
  }
};

/** Ends the API keys and webhooks of whoever had the account before, and undoes their settings. */
type EndSquatted = (ctx: Ctx) => Promise<void>;

/**
 * Ends what was made with an address that nobody had proved. Sessions and two-factor go first, with the password, so that
 * nothing new is made. The address is proved only afterwards, so a reset that is cut off can be repeated.
 */
const startClean = async (
  ctx: PublicCtx,
  changed: UserRow,
  isUsable: SQL,
  told: Told,
  endSquatted: EndSquatted,
) => {
  const { accountId } = changed;
  await ctx.firstDb.batch([
    setPassword(ctx, changed, isUsable),
    ctx.firstDb.update(users).set(NO_TWO_FACTOR).where(eq(users.accountId, accountId)),
    ctx.firstDb.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)),
    endOtherSessions(ctx, accountId, null),
    deleteTokens(ctx, accountId, ['verify_email', 'change_email', 'two_factor']),
    ...told.statements,
  ]);
  await endSquatted(accountOf(ctx, accountId));
};

/** Sets a new password, ends every session, and signs in as a login does. */
export const resetPassword = async (
  ctx: PublicCtx,
  input: z.infer<typeof resetPasswordInput>,
  client: Client,
  endSquatted: EndSquatted,
) => {
  const { tokenHash, accountId, email } = await findUserToken(ctx, input.token, ['reset_password']);
  await consumeAttempts(ctx, resetPasswordLimits(client.ip));
  const user = await withDueReset(ctx, await getUser(ctx, accountId), client);
  const passwordHash = await hashPassword(input.password);
  const emailVerifiedAt = user.emailVerifiedAt ?? Date.now();
  const isFirstProof = user.emailVerifiedAt === null;
  const changed = {
    ...user,
    ...(isFirstProof && NO_TWO_FACTOR),
    passwordHash,
    passwordChangedAt: Date.now(),
    emailVerifiedAt,
  };
  // A token that was sent to an earlier address while the address changed is no proof.
  const isUsable = sql`${isUnused(tokenHash)} AND ${users.email} = ${email}`;
  const content = isFirstProof ? addressClaimed(client.origin) : passwordChanged(client.origin);
  const told = await tell(ctx, letterTo(changed, content));
  try {
    if (isFirstProof) await startClean(ctx, changed, isUsable, told, endSquatted);
    const statements = [
      setPassword(ctx, changed, isUsable),
      // The link has proven that the email address is the user's.
      ctx.firstDb
        .update(users)
        .set({ emailVerifiedAt, ...(isFirstProof && copyIsDue()) })
        .where(eq(users.accountId, accountId)),
      endOtherSessions(ctx, accountId, null),
      forgetOtherBrowsers(ctx, accountId, null),
      deleteTokens(ctx, accountId, ENDED_WITH_PASSWORD),
      ...(isFirstProof ? [] : told.statements),
    ];
    const account = accountOf(ctx, accountId);
    const answer =
      changed.twoFactorEnabledAt === null
        ? await signIn(ctx, changed, client, 'password.reset', statements)
        : await startChallenge(ctx, changed, [...statements, auditFirst(account, 'password.reset', null)]);
    told.send();
    if (isFirstProof) await copyUserNow(account);
    return answer;
  } catch (error) {
    throw violatesNotNull(error, 'users.password_hash') ? new AppError('invalid_token') : error;
  }
};
