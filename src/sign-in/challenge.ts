import { and, eq, gt, lt, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { auditFirst } from '../audit/audit.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { type UserRow, userTokens } from '../db/schema.ts';
import { letterTo, sendMail } from '../mail/send.ts';
import { wrongCodes } from '../mail/templates.ts';
import { AppError } from '../shared/app-error.ts';
import { changeUserIf, withCode } from '../two-factor/code.ts';
import type { Client } from '../users/client.ts';
import { limitsOf } from '../users/known-browsers.ts';
import { secondStepLimits, wrongCodeCount } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
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

/**
 * Tells the owner of each five wrong codes of a day: whoever sends them knows the password. The count outlives the challenges, so
 * that somebody who is slow is noticed, too.
 */
const noteWrongCode = async (ctx: PublicCtx, user: UserRow, { origin }: Client): Promise<void> => {
  const [counted] = await consumeAttempts(ctx, [wrongCodeCount(user.accountId)]);
  if (!counted || counted.attempts % MAX_TRIES > 0) return;
  await auditFirst(accountOf(ctx, user.accountId), 'two_factor.fail', null, { codes: MAX_TRIES });
  await sendMail(ctx.env, letterTo(user, wrongCodes(origin, ctx.ip, Date.now())));
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
  const signedIn = withCode(ctx, user, code, limits, {
    prepare: () => countTry(ctx, tokenHash),
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
  return signedIn.catch(async (error) => {
    if (error instanceof AppError && error.code === 'invalid_credentials')
      await noteWrongCode(ctx, user, client);
    throw error;
  });
};
