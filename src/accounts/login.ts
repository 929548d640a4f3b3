import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { auditFirst } from '../audit/audit.ts';
import { databaseOf } from '../db/client.ts';
import { sessions, users } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { getAccount } from './account.ts';
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
  const [user] = await firstDb.select().from(users).where(eq(users.email, input.email));
  const { matches, isOutdated } = await checkPassword(
    input.password,
    user?.passwordHash ?? UNKNOWN_ACCOUNT_HASH,
  );
  if (!user || !matches) throw new AppError('invalid_credentials');
  const { accountId } = user;
  const account = await getAccount({ db: databaseOf(ctx.env, accountId), accountId });

  const nowMs = Date.now();
  const { session, row } = newSession(ctx, accountId, nowMs);
  const rehash = isOutdated
    ? [
        firstDb
          .update(users)
          .set({ passwordHash: await hashPassword(input.password) })
          .where(eq(users.accountId, accountId)),
      ]
    : [];
  await firstDb.batch([
    endSessionOf(ctx, client.previousToken),
    endOldestSessions(ctx, accountId),
    firstDb.insert(sessions).values(row),
    auditFirst({ ...ctx, accountId, actor: { kind: 'session', id: null } }, 'login', null),
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
