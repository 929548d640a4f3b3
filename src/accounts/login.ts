import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { accounts, sessions } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { checkPassword, hashPassword, UNKNOWN_ACCOUNT_HASH } from './passwords.ts';
import type { loginInput } from './schemas.ts';
import { deleteExpiredSessions, endOldestSessions, endSessionOf, newSession } from '../auth/sessions.ts';
import {
  consumeAttempts,
  deleteExpiredThrottles,
  loginLimits,
  type Reservation,
  settleAttempt,
  settlements,
} from './throttle.ts';

interface Client {
  ip: string;
  /** The token of the client's previous session, which the new session replaces. */
  previousToken: string | null;
}

type Login = z.infer<typeof loginInput>;

const signIn = async (ctx: PublicCtx, input: Login, client: Client, reservations: Reservation[]) => {
  const { firstDb } = ctx;
  const [account] = await firstDb.select().from(accounts).where(eq(accounts.email, input.email));
  const { matches, isOutdated } = await checkPassword(
    input.password,
    account?.passwordHash ?? UNKNOWN_ACCOUNT_HASH,
  );
  if (!account || !matches) throw new AppError('invalid_credentials');

  const nowMs = Date.now();
  const { session, row } = newSession(ctx, account.id, nowMs);
  const rehash = isOutdated
    ? [
        firstDb
          .update(accounts)
          .set({ passwordHash: await hashPassword(input.password) })
          .where(eq(accounts.id, account.id)),
      ]
    : [];
  await firstDb.batch([
    endSessionOf(ctx, client.previousToken),
    endOldestSessions(ctx, account.id),
    firstDb.insert(sessions).values(row),
    deleteExpiredSessions(ctx, nowMs),
    deleteExpiredThrottles(ctx, nowMs),
    ...settlements(ctx, reservations, 'success'),
    ...rehash,
  ]);
  return { account, session };
};

export const login = async (ctx: PublicCtx, input: Login, client: Client) => {
  const reservations = await consumeAttempts(ctx, loginLimits(client.ip, input.email));
  try {
    return await signIn(ctx, input, client, reservations);
  } catch (error) {
    await settleAttempt(ctx, reservations, error instanceof AppError ? 'failure' : 'error');
    throw error;
  }
};
