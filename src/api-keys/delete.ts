import { and, eq } from 'drizzle-orm';
import { apiKeys } from '../db/schema.ts';
import { commit } from '../gate/feed.ts';
import type { Ctx } from '../db/ctx.ts';
import { findApiKey } from './find.ts';

/** The row stays as a fact of the past; what could verify or reveal the key is gone. */
export const deleteApiKey = async (ctx: Ctx, id: string): Promise<void> => {
  await findApiKey(ctx, id);
  const erase = ctx.db
    .update(apiKeys)
    .set({ deletedAt: Date.now(), fingerprint: '', sealed: '' })
    .where(and(eq(apiKeys.accountId, ctx.accountId), eq(apiKeys.id, id)));
  await commit(ctx, [erase], [{ kind: 'key', ref: id }]);
};
