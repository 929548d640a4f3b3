import { auditFirst } from '../audit/audit.ts';
import { endSession } from '../auth/sessions.ts';
import type { Ctx, PublicCtx } from '../db/ctx.ts';

/** Ends the caller's session. */
export const logout = async (ctx: PublicCtx, caller: Ctx, tokenHash: string): Promise<void> => {
  await ctx.firstDb.batch([endSession(ctx, tokenHash), auditFirst(caller, 'logout', null)]);
};
