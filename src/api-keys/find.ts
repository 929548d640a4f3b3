import { and, eq, isNull } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys, type ApiKeyRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';

export const findApiKey = async ({ db, accountId }: Ctx, id: string): Promise<ApiKeyRow> => {
  const [row] = await db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id), isNull(apiKeys.deletedAt)));
  if (!row) throw new AppError('api_key_not_found');
  return row;
};
