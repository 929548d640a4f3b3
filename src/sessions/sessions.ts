import { auditFirst } from '../audit/audit.ts';
import { endOtherSessions, endSession, listSessions } from '../auth/sessions.ts';
import type { UserCtx } from '../db/ctx.ts';
import { sessions } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';

/** Ends one of the account's sessions, which may be the caller's own. */
export const endSessionById = async (ctx: UserCtx, id: string): Promise<void> => {
  const found = (await listSessions(ctx, ctx.accountId)).find((session) => session.id === id);
  if (!found) throw new AppError('not_found', { message: 'Session Not Found' });
  await ctx.firstDb.batch([endSession(ctx, found.tokenHash), auditFirst(ctx, 'session.end', id)]);
};

/** Ends the account's sessions except the caller's, and returns how many those were. */
export const endOthers = async (ctx: UserCtx, sessionHash: string | null): Promise<number> => {
  const [ended] = await ctx.firstDb.batch([
    endOtherSessions(ctx, ctx.accountId, sessionHash).returning({ tokenHash: sessions.tokenHash }),
    auditFirst(ctx, 'session.end', null),
  ]);
  return ended.length;
};
