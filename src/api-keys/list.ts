import { and, desc, eq, isNull, lt } from 'drizzle-orm';
import { apiKeys } from '../db/schema.ts';
import type { Ctx } from '../http/context.ts';
import { type PageInput, toPage } from '../http/lists.ts';
import { lastUsed } from './last-used.ts';
import { toApiKey } from './schemas.ts';

export const listApiKeys = async (ctx: Ctx, { limit, cursor }: PageInput) => {
  const [rows, lastUsedMs] = await Promise.all([
    ctx.db
      .select()
      .from(apiKeys)
      .where(
        and(
          eq(apiKeys.accountId, ctx.accountId),
          isNull(apiKeys.deletedAt),
          cursor === undefined ? undefined : lt(apiKeys.id, cursor),
        ),
      )
      .orderBy(desc(apiKeys.id))
      .limit(limit + 1),
    lastUsed(ctx),
  ]);
  return toPage(rows, limit, (row) => toApiKey(row, lastUsedMs(row.id)));
};
