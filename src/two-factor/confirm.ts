import { auditFirst } from '../audit/audit.ts';
import type { UserCtx } from '../db/ctx.ts';
import type { UserRow } from '../db/schema.ts';
import { letterTo, sendMail } from '../mail/send.ts';
import { wrongProofs } from '../mail/templates.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import type { Client } from '../users/client.ts';
import { CONFIRM, confirmLimits } from '../users/limits.ts';
import { checkPassword } from '../users/passwords.ts';
import { consumeAttempts, settleAttempt } from '../users/throttle.ts';
import { getUser } from '../users/user.ts';
import { type UsableCode, withCode } from './code.ts';

// What somebody who is signed in proves again. A stolen session isn't enough to take over an account, and whoever guesses with
// one is limited by session, and noticed.

export const wrongPassword = () => new AppError('invalid_credentials', { message: 'Wrong Password' });

/** Tells the owner once the guesses have reached the limit of a quarter of an hour. */
const tellOfGuesses = async (
  ctx: UserCtx,
  user: UserRow,
  { origin }: Client,
  reached: string[],
): Promise<void> => {
  if (!reached.includes(CONFIRM)) return;
  await auditFirst(ctx, 'session.fail', ctx.actor.id, { tries: 10 });
  await sendMail(ctx.env, letterTo(user, wrongProofs(origin, ctx, Date.now())));
};

/** Returns the caller's user if the password is theirs. */
export const confirmPassword = async (ctx: UserCtx, password: string, client: Client): Promise<UserRow> => {
  const user = await getUser(ctx, ctx.accountId);
  const reservations = await consumeAttempts(ctx, confirmLimits(ctx.accountId, ctx.actor));
  let outcome: 'success' | 'failure' | 'error' = 'error';
  let reached: string[] = [];
  try {
    const { matches } = await checkPassword(password, user.passwordHash);
    outcome = matches ? 'success' : 'failure';
  } finally {
    reached = await settleAttempt(ctx, reservations, outcome);
  }
  if (outcome === 'success') return user;
  await tellOfGuesses(ctx, user, client, reached);
  throw wrongPassword();
};

/** Lets `use` use up a code of the user, as `withCode` does. */
export const confirmCode = async <T>(
  ctx: UserCtx,
  user: UserRow,
  code: string,
  client: Client,
  use: (code: UsableCode) => Promise<T>,
): Promise<T> => {
  if (user.twoFactorEnabledAt === null) throw invalidField('code', 'Two-factor authentication is off.');
  return withCode(ctx, user, code, confirmLimits(ctx.accountId, ctx.actor), {
    use,
    fail: (reached) => tellOfGuesses(ctx, user, client, reached),
  });
};
