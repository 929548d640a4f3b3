import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { endpoint } from '../auth/endpoint.ts';
import type { Ctx } from '../db/ctx.ts';
import type { ApiKeyRow } from '../db/schema.ts';
import { once } from '../gate/worker/commit.ts';
import type { AppEnv } from '../http/context.ts';
import { pageQuery } from '../shared/schemas/lists.ts';
import { createApiKey } from './create.ts';
import { deleteApiKey } from './delete.ts';
import { findApiKey } from './find.ts';
import { listApiKeys } from './list.ts';
import { revealApiKey } from './reveal.ts';
import { rotateApiKey } from './rotate.ts';
import {
  apiKeyListBody,
  createApiKeyInput,
  deletedApiKeyBody,
  revealedApiKeyBody,
  rotateApiKeyInput,
  toRevealedApiKey,
} from './schemas.ts';

/** Makes a key once for an Idempotency-Key. A repeat reveals it. */
const makeOnce = async (ctx: Ctx, make: () => Promise<{ row: ApiKeyRow; apiKey: string }>) => {
  const { row, apiKey } = await once(ctx, make, (id) => revealApiKey(ctx, id));
  return toRevealedApiKey(row, apiKey, null);
};

const createsFullKey = (c: Context<AppEnv>): boolean =>
  (c.req.valid('json' as never) as z.output<typeof createApiKeyInput>).scope === 'full';

const isFullKey = async (c: Context<AppEnv>): Promise<boolean> =>
  (await findApiKey(c.var.ctx, c.req.param('id') ?? '')).scope === 'full';

export const apiKeyRoutes = new Hono<AppEnv>()
  .get(
    '/api-keys',
    endpoint({
      id: 'listApiKeys',
      tag: 'API keys',
      summary: 'List API keys',
      description: 'Lists API keys, newest first. Keys are masked.',
      access: 'account',
      query: z.object(pageQuery('key')),
      answers: [{ status: 200, description: 'A page of API keys.', schema: apiKeyListBody }],
    }),
    async (c) => c.json(await listApiKeys(c.var.ctx, c.req.valid('query')), 200),
  )
  .post(
    '/create-api-key',
    endpoint({
      id: 'createApiKey',
      tag: 'API keys',
      summary: 'Create an API key',
      description:
        'An account has at most 100 keys that are neither deleted nor expired. Of its expired keys, the 100 newest stay listed.',
      access: 'account',
      wantsProof: createsFullKey,
      isRepeatable: true,
      body: createApiKeyInput,
      answers: [{ status: 201, description: 'The API key, unmasked.', schema: revealedApiKeyBody }],
      errors: ['limit_reached'],
    }),
    async (c) => {
      const { ctx } = c.var;
      return c.json(await makeOnce(ctx, () => createApiKey(ctx, c.req.valid('json'))), 201);
    },
  )
  .get(
    '/api-keys/:id',
    endpoint({
      id: 'revealApiKey',
      tag: 'API keys',
      summary: 'Reveal an API key',
      access: 'account',
      wantsProof: isFullKey,
      answers: [{ status: 200, description: 'The API key, unmasked.', schema: revealedApiKeyBody }],
      errors: ['api_key_not_found', 'storage_limit_reached'],
    }),
    async (c) => {
      const { row, apiKey, lastUsedMs } = await revealApiKey(c.var.ctx, c.req.param('id'));
      return c.json(toRevealedApiKey(row, apiKey, lastUsedMs), 200);
    },
  )
  .post(
    '/api-keys/:id/rotate',
    endpoint({
      id: 'rotateApiKey',
      tag: 'API keys',
      summary: 'Rotate an API key',
      description:
        'Creates a key with the same name, scope, and allowed addresses, which does not expire. The old key expires after the overlap, or earlier if it was to expire earlier. An account that has 100 live keys can rotate without an overlap only.',
      access: 'account',
      wantsProof: isFullKey,
      isRepeatable: true,
      body: rotateApiKeyInput,
      answers: [{ status: 201, description: 'The new API key, unmasked.', schema: revealedApiKeyBody }],
      errors: ['api_key_not_found', 'invalid_transition', 'limit_reached'],
    }),
    async (c) => {
      const { ctx } = c.var;
      const rotate = () => rotateApiKey(ctx, c.req.param('id'), c.req.valid('json'));
      return c.json(await makeOnce(ctx, rotate), 201);
    },
  )
  .delete(
    '/api-keys/:id',
    endpoint({
      id: 'deleteApiKey',
      tag: 'API keys',
      summary: 'Delete an API key',
      description: 'Deletes the key permanently. Every call that starts after the response refuses it.',
      access: 'account',
      answers: [{ status: 200, description: 'The API key is deleted.', schema: deletedApiKeyBody }],
      errors: ['api_key_not_found'],
    }),
    async (c) => {
      const id = c.req.param('id');
      await deleteApiKey(c.var.ctx, id);
      return c.json({ id, deleted: true as const }, 200);
    },
  );
