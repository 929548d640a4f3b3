import { and, eq } from 'drizzle-orm';
import type * as z from 'zod';
import type { PublicCtx } from '../db/ctx.ts';
import { type UserRow, users } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { withDueReset } from '../two-factor/reset.ts';
import type { Client } from '../users/client.ts';
import { limitsOf } from '../users/known-browsers.ts';
import { checkPassword, hashPassword, unknownAccountHash } from '../users/passwords.ts';
import { consumeAttempts, type AttemptReservation, settleAttempt, settlements } from '../users/throttle.ts';
import { isSamePassword } from '../users/user.ts';
import { startChallenge } from './challenge.ts';
import type { loginInput } from './schemas.ts';
import { signIn } from './sign-in.ts';

type Login = z.infer<typeof loginInput>;

const rehash = async ({ firstDb }: PublicCtx, user: UserRow, password: string) => {
  const update = firstDb
    .update(users)
    .set({ passwordHash: await hashPassword(password) })
    .where(and(eq(users.accountId, user.accountId), isSamePassword(user)));
  return [update];
};

const tryLogin = async (ctx: PublicCtx, input: Login, client: Client, reservations: AttemptReservation[]) => {
  const [found] = await ctx.firstDb.select().from(users).where(eq(users.email, input.email));
  const { matches, isOutdated } = await checkPassword(
    input.password,
    found?.passwordHash ?? unknownAccountHash(),
  );
  if (!found || !matches) throw new AppError('invalid_credentials');
  const user = await withDueReset(ctx, found, client);
  const statements = [
    ...(isOutdated ? await rehash(ctx, user, input.password) : []),
    ...settlements(ctx, reservations, 'success'),
  ];
  return user.twoFactorEnabledAt === null
    ? signIn(ctx, user, client, 'login', statements)
    : startChallenge(ctx, user, statements);
};

/** Starts a session, or a challenge if the user has turned on two-factor authentication. */
export const login = async (ctx: PublicCtx, input: Login, client: Client) => {
  const reservations = await consumeAttempts(ctx, await limitsOf(ctx, input.email, client));
  try {
    return await tryLogin(ctx, input, client, reservations);
  } catch (error) {
    await settleAttempt(ctx, reservations, error instanceof AppError ? 'failure' : 'error');
    throw error;
  }
};
