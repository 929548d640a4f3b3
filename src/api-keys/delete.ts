import { and, eq, exists, isNull } from 'drizzle-orm';
import { auditIf } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { findApiKey } from './find.ts';
import { pruneKeys } from './prune.ts';

/** Statements that mark a key as deleted, unless it is, and erase the fields with which it could be authenticated or revealed. */
export const deleteStatements = (ctx: Ctx, id: string) => {
  const deletedAt = Date.now();
  const isLive = and(eq(apiKeys.accountId, ctx.accountId), eq(apiKeys.id, id), isNull(apiKeys.deletedAt));
  const update = ctx.db.update(apiKeys).set({ deletedAt, fingerprint: '', sealed: '' }).where(isLive);
  const entry = auditIf(
    ctx,
    exists(ctx.db.select({ id: apiKeys.id }).from(apiKeys).where(isLive)),
    'api_key.delete',
    id,
  );
  return [entry, update, ...pruneKeys(ctx, deletedAt)] as const;
};

export const deleteApiKey = async (ctx: Ctx, id: string): Promise<void> => {
  await findApiKey(ctx, id);
  await commit(ctx, [...deleteStatements(ctx, id)], [{ kind: 'key', ref: id }], { isBeyondLimits: true });
};
