import type { UserCtx } from '../db/ctx.ts';
import type { UserRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { confirmLimits } from './limits.ts';
import { checkPassword } from './passwords.ts';
import { consumeAttempts, settleAttempt } from './throttle.ts';
import { getUser } from './user.ts';

export const wrongPassword = () => new AppError('invalid_credentials', { message: 'Wrong Password' });

/**
 * Returns the caller's user if the password is theirs: a stolen session isn't enough to take over an account. Wrong
 * passwords are limited by session.
 */
export const confirmPassword = async (ctx: UserCtx, password: string): Promise<UserRow> => {
  const user = await getUser(ctx, ctx.accountId);
  const reservations = await consumeAttempts(ctx, confirmLimits(ctx.accountId, ctx.actor));
  let outcome: 'success' | 'failure' | 'error' = 'error';
  try {
    const { matches } = await checkPassword(password, user.passwordHash);
    outcome = matches ? 'success' : 'failure';
  } finally {
    await settleAttempt(ctx, reservations, outcome);
  }
  if (outcome === 'failure') throw wrongPassword();
  return user;
};
