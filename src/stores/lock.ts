import { and, eq } from 'drizzle-orm';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { type StoreRow, stores } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';

const NO_SECRETS = { secret: null, earlierSecrets: [], apiKey: null };

const NO_CHECK = { checkAt: null, checkCursor: null, checkUntil: null, checkFailures: 0, checkProblem: null };

/** Takes every secret of a store, so that it takes no purchases until its owner sets them again. */
export const lockStore = async (ctx: Ctx, { id, updatedAt }: StoreRow): Promise<void> => {
  const isStore = and(eq(stores.accountId, ctx.accountId), eq(stores.id, id));
  // A change that was decided before this one must not be committed after it.
  const fields = { ...NO_SECRETS, ...NO_CHECK, updatedAt: Math.max(Date.now(), updatedAt + 1) };
  await commit(
    ctx,
    [
      audit(ctx, 'store.update', id, { fields: ['secret', 'api_key'] }),
      ctx.db.update(stores).set(fields).where(isStore),
    ],
    [{ kind: 'account', ref: ctx.accountId }],
    { isBeyondLimits: true },
  );
};
