import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { accounts, sessions } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/hash.ts';
import { checkPassword, hashPassword, UNKNOWN_ACCOUNT_HASH } from './passwords.ts';
import type { loginInput } from './schemas.ts';
import { deleteExpiredSessions, newSession } from '../auth/sessions.ts';
import { loginLimits, refundAttempts, consumeAttempts } from './throttle.ts';

interface Client {
  ip: string;
  /** The token of the client's previous session, which the new session replaces. */
  previousToken: string | null;
}

export const login = async (ctx: PublicCtx, input: z.infer<typeof loginInput>, client: Client) => {
  const { db } = ctx;
  const limits = loginLimits(client.ip, input.email);
  await consumeAttempts(ctx, limits);
  const [account] = await db.select().from(accounts).where(eq(accounts.email, input.email));
  const { matches, isOutdated } = await checkPassword(
    input.password,
    account?.passwordHash ?? UNKNOWN_ACCOUNT_HASH,
  );
  if (!account || !matches) throw new AppError('invalid_credentials');

  const nowMs = Date.now();
  const { session, row } = newSession(account.id, nowMs);
  const rehash = isOutdated
    ? [
        db
          .update(accounts)
          .set({ passwordHash: await hashPassword(input.password) })
          .where(eq(accounts.id, account.id)),
      ]
    : [];
  await db.batch([
    db.insert(sessions).values(row),
    db.delete(sessions).where(eq(sessions.tokenHash, sha256(client.previousToken ?? ''))),
    deleteExpiredSessions(ctx, nowMs),
    ...refundAttempts(ctx, limits),
    ...rehash,
  ]);
  return { account, session };
};
