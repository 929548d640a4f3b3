import type * as z from 'zod';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys, type ApiKeyRow } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { undoIfEnded } from '../sessions/caller.ts';
import { invalidField } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { seal } from '../shared/crypto/sealing.ts';
import { newId } from '../shared/text/ids.ts';
import { maskApiKey, mintApiKey } from './api-key.ts';
import { deleteApiKey } from './delete.ts';
import { pruneKeys } from './prune.ts';
import { accountWithRoom, refuseWithoutRoom } from './room.ts';
import type { createApiKeyInput } from './schemas.ts';

/** Returns a new key, and the columns that every new key has of its own. */
export const newApiKey = async ({ env, accountId }: Ctx) => {
  const { apiKeySecrets, sealing } = settingsOf(env);
  const id = newId('key');
  const { apiKey, fingerprint, secretId } = mintApiKey(apiKeySecrets, accountId, id);
  const sealed = await seal(sealing, apiKey, [accountId, id]);
  const columns = { id, fingerprint, secretId, sealed, maskedKey: maskApiKey(apiKey), createdAt: Date.now() };
  return { apiKey, columns };
};

export const createApiKey = async (ctx: Ctx, input: z.output<typeof createApiKeyInput>) => {
  const expiresAt = input.expires_at ? Date.parse(input.expires_at) : null;
  if (expiresAt !== null && expiresAt <= Date.now())
    throw invalidField('expires_at', 'must be in the future');
  const { apiKey, columns } = await newApiKey(ctx);
  const row: ApiKeyRow = {
    ...columns,
    accountId: ctx.accountId,
    name: input.name ?? null,
    scope: input.scope,
    expiresAt,
    deletedAt: null,
    allowedIps: input.allowed_ips ?? null,
  };
  const { id } = row;
  const insert = ctx.db.insert(apiKeys).values({ ...row, accountId: accountWithRoom(ctx, row.createdAt) });
  const entry = audit(ctx, 'api_key.create', id, { scope: input.scope });
  const statements = [insert, entry, ...pruneKeys(ctx, row.createdAt)] as const;
  await commit(ctx, [...statements], [{ kind: 'key', ref: id }]).catch(refuseWithoutRoom);
  // Nobody has the key before the answer.
  await undoIfEnded(ctx, (plain) => deleteApiKey(plain, id));
  return { row, apiKey };
};
