import { and, desc, eq, isNull, lt } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys } from '../db/schema.ts';
import { gateOf } from '../shared/objects/address.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { toApiKey } from './schemas.ts';

export const listApiKeys = async ({ env, db, accountId }: Ctx, { limit, cursor }: PageInput) => {
  const rows = await db
    .select()
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.accountId, accountId),
        isNull(apiKeys.deletedAt),
        cursor === undefined ? undefined : lt(apiKeys.id, cursor),
      ),
    )
    .orderBy(desc(apiKeys.id))
    .limit(limit + 1);
  const lastUsedMs = await gateOf(env, accountId).keysLastUsedMs(rows.map(({ id }) => id));
  const keys = rows.map((row, i) => ({ id: row.id, row, lastUsedMs: lastUsedMs[i] ?? null }));
  return toPage(keys, limit, (key) => toApiKey(key.row, key.lastUsedMs));
};
