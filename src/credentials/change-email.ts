import { and, eq, ne, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import type { PublicCtx, UserCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { users, userTokens } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { tell } from '../mail/tell.ts';
import { confirmEmail, emailChangeRequested, tokenUrl } from '../mail/templates.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { confirmPassword, wrongPassword } from '../two-factor/confirm.ts';
import type { Client } from '../users/client.ts';
import { mailLimits } from '../users/limits.ts';
import { isReserved } from '../users/reserved-emails.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { deleteExpiredTokens, deleteTokens, newUserToken } from '../users/user-tokens.ts';
import { idIfSamePassword } from '../users/user.ts';
import type { changeEmailInput } from './schemas.ts';

/** Throws if the address is another account's, or was until a few days ago. */
export const refuseTaken = async (
  { firstDb }: PublicCtx,
  email: string,
  accountId: string,
): Promise<void> => {
  const [[taken], [reserved]] = await firstDb.batch([
    firstDb
      .select({ id: users.accountId })
      .from(users)
      .where(and(eq(users.email, email), ne(users.accountId, accountId))),
    firstDb.select({ is: sql<number>`${isReserved(email, accountId)}` }).from(sql`(SELECT 1)`),
  ]);
  if (taken || reserved?.is) throw new AppError('email_taken');
};

/** Starts a change of the caller's email address. Returns the email to send to the new one after the response. */
export const changeEmail = async (
  ctx: UserCtx,
  { email, current_password }: z.infer<typeof changeEmailInput>,
  client: Client,
) => {
  const user = await confirmPassword(ctx, current_password, client);
  await consumeAttempts(ctx, mailLimits('change', ctx.accountId));
  if (email === user.email) throw invalidField('email', 'is already the email address of this account');
  await refuseTaken(ctx, email, user.accountId);
  const { token, row } = newUserToken(ctx, user.accountId, 'change_email', email);
  const told = await tell(ctx, letterTo(user, emailChangeRequested(client.origin, email)));
  try {
    await ctx.firstDb.batch([
      deleteTokens(ctx, user.accountId, ['change_email']),
      // A change of the password cancels this one, also if it comes first.
      ctx.firstDb.insert(userTokens).values({ ...row, accountId: idIfSamePassword(ctx, user) }),
      auditFirst(ctx, 'email.request_change', null),
      deleteExpiredTokens(ctx),
      ...told.statements,
    ]);
  } catch (error) {
    throw violatesNotNull(error, 'user_tokens.account_id') ? wrongPassword() : error;
  }
  told.send();
  const confirmation = confirmEmail(tokenUrl(client.origin, 'verify-email', token));
  return { ...letterTo(user, confirmation), to: email };
};
