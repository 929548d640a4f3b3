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
import { type Challenge, startChallenge } from './challenge.ts';
import type { loginInput } from './schemas.ts';
import { beginSession, type SignedIn } from './sign-in.ts';

type Login = z.infer<typeof loginInput>;

const rehash = async ({ firstDb }: PublicCtx, user: UserRow, password: string) => {
  const update = firstDb
    .update(users)
    .set({ passwordHash: await hashPassword(password) })
    .where(and(eq(users.accountId, user.accountId), isSamePassword(user)));
  return [update];
};

/** Commits the session, or a challenge, and that the attempt has succeeded. Returns what is left to do. */
const tryLogin = async (
  ctx: PublicCtx,
  input: Login,
  client: Client,
  reservations: AttemptReservation[],
): Promise<() => Promise<SignedIn | Challenge>> => {
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
  if (user.twoFactorEnabledAt === null) return beginSession(ctx, user, client, 'login', statements);
  const challenge = await startChallenge(ctx, user, statements);
  return async () => challenge;
};

const isWrongPassword = (error: unknown) => error instanceof AppError && error.code === 'invalid_credentials';

/** Starts a session, or a challenge if the user has turned on two-factor authentication. */
export const login = async (ctx: PublicCtx, input: Login, client: Client): Promise<SignedIn | Challenge> => {
  const reservations = await consumeAttempts(ctx, await limitsOf(ctx, input.email, client));
  let goOn: Awaited<ReturnType<typeof tryLogin>>;
  try {
    goOn = await tryLogin(ctx, input, client, reservations);
  } catch (error) {
    await settleAttempt(ctx, reservations, isWrongPassword(error) ? 'failure' : 'error');
    throw error;
  }
  // The attempt is settled, whatever happens from here on.
  return goOn();
};
