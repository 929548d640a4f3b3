import { and, eq, gt, lt, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { auditFirst } from '../audit/audit.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { type UserRow, userTokens } from '../db/schema.ts';
import { letterTo } from '../mail/letter.ts';
import { tell } from '../mail/tell.ts';
import { wrongCodes } from '../mail/two-factor-templates.ts';
import { AppError } from '../shared/app-error.ts';
import { changeUserIf, withCode } from '../two-factor/code.ts';
import type { NoteGuess } from '../two-factor/guesses.ts';
import type { Client } from '../users/client.ts';
import { limitsOf } from '../users/known-browsers.ts';
import { secondStepLimits, TOLD_CODES, wrongCodeCount } from '../users/limits.ts';
import { deleteExpiredTokens, findUserToken, isUnused, newUserToken } from '../users/user-tokens.ts';
import { accountOf, getUser, idIfSamePassword } from '../users/user.ts';
import { type SignedIn, signIn } from './sign-in.ts';

const MAX_TRIES = 5;

/** A login that still requires a code. */
export interface Challenge {
  challenge: string;
}

export const twoFactorRequired = ({ challenge }: Challenge) =>
  new AppError('two_factor_required', { details: [{ path: 'challenge', message: challenge }] });

/**
 * Starts a challenge for a user whose password was right, or who has set a new one. `statements` are committed with it. If the
 * password has changed since it was checked, nothing is.
 */
export const startChallenge = async (
  ctx: PublicCtx,
  user: UserRow,
  statements: BatchItem<'sqlite'>[],
): Promise<Challenge> => {
  const { token, row } = newUserToken(ctx, user.accountId, 'two_factor');
  try {
    await ctx.firstDb.batch([
      deleteExpiredTokens(ctx),
      ...statements,
      ctx.firstDb.insert(userTokens).values({ ...row, accountId: idIfSamePassword(ctx, user) }),
    ]);
  } catch (error) {
    throw violatesNotNull(error, 'user_tokens.account_id') ? new AppError('invalid_credentials') : error;
  }
  return { challenge: token };
};

/** Counts a try before its code is checked, so that parallel tries can't exceed the limit. */
const countTry = async ({ firstDb }: PublicCtx, tokenHash: string): Promise<void> => {
  const [counted] = await firstDb
    .update(userTokens)
    .set({ tries: sql`${userTokens.tries} + 1` })
    .where(
      and(
        eq(userTokens.tokenHash, tokenHash),
        gt(userTokens.expiresAt, Date.now()),
        lt(userTokens.tries, MAX_TRIES),
      ),
    )
    .returning({ tries: userTokens.tries });
  if (!counted) throw new AppError('invalid_token');
};

/** Tells the owner of each five wrong codes of a day. */
const noteIn =
  (ctx: PublicCtx, user: UserRow, { origin }: Client): NoteGuess =>
  async (isTold) => {
    const told = await tell(ctx, letterTo(user, wrongCodes(origin, ctx.ip, Date.now())), isTold);
    const account = accountOf(ctx, user.accountId);
    const entry = auditFirst(account, 'two_factor.fail', null, { codes: TOLD_CODES }, isTold);
    return { ...told, statements: [entry, ...told.statements] };
  };

/** Completes a login with a code. */
export const answerChallenge = async (
  ctx: PublicCtx,
  { challenge, code }: { challenge: string; code: string },
  client: Client,
): Promise<SignedIn> => {
  const { firstDb } = ctx;
  const { tokenHash, accountId } = await findUserToken(ctx, challenge, ['two_factor']);
  const user = await getUser(ctx, accountId);
  const limits = await limitsOf(ctx, user.email, client, secondStepLimits('code', client.ip, user));
  return withCode(ctx, user, code, [...limits, wrongCodeCount(accountId)], {
    prepare: () => countTry(ctx, tokenHash),
    note: noteIn(ctx, user, client),
    use: ({ kind, statements }) => {
      const entry = { ...ctx, accountId, actor: { kind: 'session', id: null } } as const;
      const isRecovery = kind === 'recovery_code';
      return signIn(
        ctx,
        user,
        client,
        'login',
        [
          ...statements,
          changeUserIf(ctx, user, isUnused(tokenHash), {}),
          firstDb.delete(userTokens).where(eq(userTokens.tokenHash, tokenHash)),
          ...(isRecovery ? [auditFirst(entry, 'recovery_code.use', null)] : []),
        ],
        { two_factor: kind },
      );
    },
  });
};
