import { eq, sql } from 'drizzle-orm';
import { auditFirst } from '../audit/audit.ts';
import type { PublicCtx, UserCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { recoveryCodes, type UserRow, users } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { tell } from '../mail/tell.ts';
import { twoFactorChanged, twoFactorResetRequested } from '../mail/two-factor-templates.ts';
import { AppError } from '../shared/app-error.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { HOUR_MS } from '../shared/rules/dates.ts';
import type { Client } from '../users/client.ts';
import { deleteTokens } from '../users/user-tokens.ts';
import { accountOf, getUser } from '../users/user.ts';
import { changeUserIf, NO_TWO_FACTOR } from './code.ts';

// The operator resets the two-factor authentication of a user who has lost the app and the recovery codes. The operator can't
// check that, so the reset waits for 48 hours, and the owner is told. Any correct code cancels it.

const RESET_MS = 48 * HOUR_MS;

/** Lets two-factor authentication go off in 48 hours. A repeat changes nothing. Returns when that is. */
export const requestReset = async (ctx: UserCtx, client: Pick<Client, 'origin'>): Promise<number> => {
  const { firstDb, accountId } = ctx;
  const read = await getUser(ctx, accountId);
  if (read.twoFactorEnabledAt === null)
    throw new AppError('invalid_transition', { message: 'Two-factor authentication is off.' });
  const resetAt = read.twoFactorResetAt ?? Date.now() + RESET_MS;
  const isAsRead = sql`${users.twoFactorEnabledAt} IS NOT NULL AND ${users.twoFactorResetAt} IS ${read.twoFactorResetAt}`;
  const letter = letterTo(read, twoFactorResetRequested(client.origin, resetAt));
  const told = await tell(ctx, letter, eq(users.twoFactorResetAt, resetAt));
  const [[user]] = await firstDb.batch([
    firstDb
      .update(users)
      .set({ twoFactorResetAt: sql`iif(${isAsRead}, ${resetAt}, ${users.twoFactorResetAt})` })
      .where(eq(users.accountId, accountId))
      .returning(),
    auditFirst(ctx, 'two_factor.request_reset', null),
    ...told.statements,
  ]);
  // A code was used in between, for example.
  if (user?.twoFactorResetAt !== resetAt) return requestReset(ctx, client);
  told.send();
  return resetAt;
};

/**
 * Carries out a reset that is due, when the user gets in: it is never late then. Returns the user as they are afterwards. The
 * caller has checked the password, or the token of an email.
 */
export const withDueReset = async (ctx: PublicCtx, user: UserRow, { origin }: Client): Promise<UserRow> => {
  const { accountId, twoFactorResetAt } = user;
  if (twoFactorResetAt === null || twoFactorResetAt > Date.now()) return user;
  const told = await tell(ctx, letterTo(user, twoFactorChanged(origin, false)));
  const isStillDue = sql`${users.twoFactorResetAt} IS ${twoFactorResetAt}`;
  try {
    await ctx.firstDb.batch([
      changeUserIf(ctx, user, isStillDue, NO_TWO_FACTOR),
      ctx.firstDb.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)),
      deleteTokens(ctx, accountId, ['two_factor']),
      auditFirst({ ...accountOf(ctx, accountId), actor: SYSTEM }, 'two_factor.reset', null),
      ...told.statements,
    ]);
  } catch (error) {
    // A code was used, or another sign-in has carried the reset out.
    if (violatesNotNull(error, 'users.password_hash')) return getUser(ctx, accountId);
    throw error;
  }
  told.send();
  return { ...user, ...NO_TWO_FACTOR };
};
