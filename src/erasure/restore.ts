import { eq } from 'drizzle-orm';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { accounts } from '../db/schema.ts';
import { commit } from '../gate/worker/feed.ts';

/** Cancels the erasure of an account. Its API keys are valid again, and its subscription stays canceled. */
export const restoreAccount = async (ctx: Ctx): Promise<void> => {
  await commit(
    ctx,
    [
      audit(ctx, 'account.restore', null),
      ctx.db.update(accounts).set({ eraseAt: null }).where(eq(accounts.id, ctx.accountId)),
    ],
    [{ kind: 'account', ref: ctx.accountId }],
  );
};
