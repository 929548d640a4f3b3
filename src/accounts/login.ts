import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { accounts, sessions } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/hash.ts';
import { checkPassword, hashPassword, NOBODYS_HASH } from './passwords.ts';
import type { loginInput } from './schemas.ts';
import { deleteExpiredSessions, newSession } from '../auth/sessions.ts';
import { loginLimits, returnAttempts, takeAttempts } from './throttle.ts';

interface Visitor {
  ip: string;
  /** A session that the visitor still holds: the new one replaces it. */
  oldToken: string | null;
}

export const login = async (ctx: PublicCtx, input: z.infer<typeof loginInput>, visitor: Visitor) => {
  const { db } = ctx;
  const limits = loginLimits(visitor.ip, input.email);
  await takeAttempts(ctx, limits);
  const [account] = await db.select().from(accounts).where(eq(accounts.email, input.email));
  const { matches, outdated } = await checkPassword(input.password, account?.passwordHash ?? NOBODYS_HASH);
  if (!account || !matches) throw new AppError('invalid_credentials');

  const nowMs = Date.now();
  const { session, row } = newSession(account.id, nowMs);
  const renewal = outdated
    ? [
        db
          .update(accounts)
          .set({ passwordHash: await hashPassword(input.password) })
          .where(eq(accounts.id, account.id)),
      ]
    : [];
  await db.batch([
    db.insert(sessions).values(row),
    db.delete(sessions).where(eq(sessions.tokenHash, sha256(visitor.oldToken ?? ''))),
    deleteExpiredSessions(ctx, nowMs),
    ...returnAttempts(ctx, limits),
    ...renewal,
  ]);
  return { account, session };
};
