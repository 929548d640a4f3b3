import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import type { UserCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { users, userTokens } from '../db/schema.ts';
import { letterTo } from '../mail/send.ts';
import { confirmEmail, emailChangeRequested, tokenUrl } from '../mail/templates.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import type { Client } from '../users/client.ts';
import { confirmPassword, wrongPassword } from '../users/confirm-password.ts';
import { mailLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { deleteExpiredTokens, deleteTokens, newUserToken } from '../users/user-tokens.ts';
import { idIfSamePassword } from '../users/user.ts';
import type { changeEmailInput } from './schemas.ts';

/** Starts a change of the caller's email address. Returns the emails to send after the response. */
export const changeEmail = async (
  ctx: UserCtx,
  { email, current_password }: z.infer<typeof changeEmailInput>,
  { origin }: Client,
) => {
  await consumeAttempts(ctx, mailLimits('change', ctx.accountId));
  const user = await confirmPassword(ctx, current_password);
  if (email === user.email) throw invalidField('email', 'is already the email address of this account');
  const taken = await ctx.firstDb.select().from(users).where(eq(users.email, email)).get();
  if (taken) throw new AppError('email_taken');
  const { token, row } = newUserToken(ctx, user.accountId, 'change_email', email);
  try {
    await ctx.firstDb.batch([
      deleteTokens(ctx, user.accountId, ['change_email']),
      // A change of the password cancels this one, also if it comes first.
      ctx.firstDb.insert(userTokens).values({ ...row, accountId: idIfSamePassword(ctx, user) }),
      auditFirst(ctx, 'email.request_change', null),
      deleteExpiredTokens(ctx),
    ]);
  } catch (error) {
    throw violatesNotNull(error, 'user_tokens.account_id') ? wrongPassword() : error;
  }
  const confirmation = confirmEmail(tokenUrl(origin, 'verify-email', token));
  return [
    { ...letterTo(user, confirmation), to: email },
    letterTo(user, emailChangeRequested(origin, email)),
  ];
};
