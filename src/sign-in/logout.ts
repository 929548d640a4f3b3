import { auditFirst } from '../audit/audit.ts';
import type { UserCtx } from '../db/ctx.ts';
import { endSession } from '../sessions/sessions.ts';

/** Ends the session that makes the call. */
export const logout = async (ctx: UserCtx, tokenHash: string): Promise<void> => {
  await ctx.firstDb.batch([endSession(ctx, tokenHash), auditFirst(ctx, 'logout', null)]);
};
