import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../http/context.ts';
import { type Access, documented, type EndpointDocs } from '../http/openapi.ts';
import { authenticate, authenticateUnlimited, requireKey } from './authenticate.ts';

const ACCESS_CHECKS: Record<Access, MiddlewareHandler<AppEnv>> = {
  public: (_c, next) => next(),
  key: requireKey,
  account: authenticate,
};

/**
 * Documents a route for the OpenAPI document and enforces the access that the documentation promises.
 *
 * @example
 * .delete(
 *   '/api/api-keys/:id',
 *   endpoint({
 *     id: 'deleteApiKey',
 *     tag: 'API keys',
 *     summary: 'Delete an API key',
 *     access: 'account',
 *     answers: [{ status: 200, description: 'The key is refused from now on.', schema: deletedBody }],
 *     errors: ['api_key_not_found'],
 *   }),
 *   async (c) => c.json(await deleteApiKey(c.var.ctx, c.req.param('id'))),
 * )
 */
export const endpoint = (docs: EndpointDocs): MiddlewareHandler<AppEnv> => {
  const checkAccess = docs.hasUnlimitedSessions ? authenticateUnlimited : ACCESS_CHECKS[docs.access];
  return documented<MiddlewareHandler<AppEnv>>((c, next) => checkAccess(c, next), { operation: docs });
};
