import { and, eq, isNull } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys, sessions } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';

// A request goes on for a moment after the session or API key that it was let in with has ended. What it makes then, and what
// would let its caller in again, must not outlive that.

const hasSession = async (env: Env, accountId: string, id: string): Promise<boolean> => {
  const isOwn = and(eq(sessions.accountId, accountId), eq(sessions.id, id));
  const found = await firstDatabase(env).select({ id: sessions.id }).from(sessions).where(isOwn).get();
  return found !== undefined;
};

const hasKey = async ({ db, accountId }: Ctx, id: string): Promise<boolean> => {
  const isLive = and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id), isNull(apiKeys.deletedAt));
  return (await db.select({ id: apiKeys.id }).from(apiKeys).where(isLive).get()) !== undefined;
};

/** Returns the error to answer if what the caller was let in with has ended, and null otherwise. */
const findEnd = async (ctx: Ctx): Promise<AppError | null> => {
  const { env, accountId, actor } = ctx;
  if (actor.id === null) return null;
  if (actor.kind === 'api_key') return (await hasKey(ctx, actor.id)) ? null : new AppError('api_key_invalid');
  const isEnded = actor.kind === 'session' && !(await hasSession(env, accountId, actor.id));
  return isEnded ? new AppError('invalid_session') : null;
};

/**
 * Runs after a change, before its answer: undoes the change if its caller has been ended meanwhile, and throws. What `undo` gets
 * has no Idempotency-Key: the change has claimed it, so a commit that claimed it again would fail.
 */
export const undoIfEnded = async (ctx: Ctx, undo: (ctx: Ctx) => Promise<unknown>): Promise<void> => {
  const end = await findEnd(ctx);
  if (!end) return;
  const { idempotency: _, ...plain } = ctx;
  await undo(plain);
  throw end;
};
