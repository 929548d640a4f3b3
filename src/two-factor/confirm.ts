import { auditFirst } from '../audit/audit.ts';
import type { UserCtx } from '../db/ctx.ts';
import type { UserRow } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { tell } from '../mail/tell.ts';
import { wrongProofs } from '../mail/templates.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import type { Client } from '../users/client.ts';
import { type AttemptOutcome, confirmLimits, TOLD_GUESSES } from '../users/limits.ts';
import { checkPassword } from '../users/passwords.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { getUser } from '../users/user.ts';
import { type UsableCode, withCode } from './code.ts';
import { type NoteGuess, settleGuess } from './guesses.ts';

// What somebody who is signed in proves again. A stolen session isn't enough to take over an account, and whoever guesses with
// one is limited by session, and noticed.

export const wrongPassword = () => new AppError('invalid_credentials', { message: 'Wrong Password' });

/** Tells the owner once the guesses have reached the limit of a quarter of an hour. */
const noteIn =
  (ctx: UserCtx, user: UserRow, { origin }: Client): NoteGuess =>
  async (isTold) => {
    const told = await tell(ctx, letterTo(user, wrongProofs(origin, ctx, Date.now())), isTold);
    const entry = auditFirst(ctx, 'session.fail', ctx.actor.id, { tries: TOLD_GUESSES }, isTold);
    return { ...told, statements: [entry, ...told.statements] };
  };

/** Returns the caller's user if the password is theirs. */
export const confirmPassword = async (ctx: UserCtx, password: string, client: Client): Promise<UserRow> => {
  const user = await getUser(ctx, ctx.accountId);
  const reservations = await consumeAttempts(ctx, confirmLimits(ctx.accountId, ctx.actor));
  let outcome: AttemptOutcome = 'error';
  try {
    const { matches } = await checkPassword(password, user.passwordHash);
    outcome = matches ? 'success' : 'failure';
  } finally {
    await settleGuess(ctx, reservations, outcome, noteIn(ctx, user, client));
  }
  if (outcome === 'success') return user;
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
    note: noteIn(ctx, user, client),
  });
};

/**
 * Whether a call that takes a code comes without one of a user who has two-factor authentication on. Such a code is a fresh proof,
 * and works once: if `reauthenticate` used it up, nothing would be left for the call.
 */
export const lacksCode = async (ctx: UserCtx, { code }: { code?: string | undefined }): Promise<boolean> =>
  code === undefined || (await getUser(ctx, ctx.accountId)).twoFactorEnabledAt === null;
