import type * as z from 'zod';
import { apiKeys, type ApiKeyRow } from '../db/schema.ts';
import { commit } from '../gate/feed.ts';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { readConfig } from '../shared/config.ts';
import { newId } from '../shared/ids.ts';
import { seal } from '../shared/sealing.ts';
import { maskApiKey, mintApiKey } from '../auth/api-key.ts';
import { pruneDeletedKeys } from './prune.ts';
import type { createApiKeyInput } from './schemas.ts';

export const createApiKey = async (ctx: Ctx, input: z.output<typeof createApiKeyInput>) => {
  const config = readConfig(ctx.env);
  const id = newId('key');
  const { apiKey, fingerprint } = mintApiKey(config.apiKeySecret, ctx.accountId, id);
  const row: ApiKeyRow = {
    id,
    accountId: ctx.accountId,
    name: input.name ?? null,
    scope: input.scope,
    fingerprint,
    sealed: await seal(config.sealing, apiKey, [ctx.accountId, id]),
    maskedKey: maskApiKey(apiKey),
    createdAt: Date.now(),
    expiresAt: input.expires_at ? Date.parse(input.expires_at) : null,
    deletedAt: null,
  };
  const insert = ctx.db.insert(apiKeys).values(row);
  const entry = audit(ctx, 'api_key.create', id, { scope: input.scope });
  await commit(ctx, [insert, entry, pruneDeletedKeys(ctx, row.createdAt)], [{ kind: 'key', ref: id }]);
  return { row, apiKey };
};
