import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../http/context.ts';
import { unknownParameter } from '../http/input.ts';
import { type Access, documented, type EndpointDocs } from '../http/openapi.ts';
import { admitKey, authenticate, authenticateUnlimited, requireKey } from './authenticate.ts';

const ACCESS_CHECKS: Record<Access, MiddlewareHandler<AppEnv>> = {
  public: (_c, next) => next(),
  key: requireKey,
  account: authenticate,
};

/** Refuses query parameters that the route doesn't take. A key has its rate limit also for such a call. */
const refuseUnknownParameters = async (c: Context<AppEnv>, access: Access) => {
  const error = unknownParameter(c);
  if (!error) return;
  if (access === 'key') await admitKey(c, c.get('key'), 'verify');
  throw error;
};

/**
 * Documents a route for the OpenAPI document, enforces the access that the documentation promises, and refuses query
 * parameters that the route doesn't document.
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
  const middleware: MiddlewareHandler<AppEnv> = (c, next) =>
    checkAccess(c, async () => {
      await refuseUnknownParameters(c, docs.access);
      await next();
    });
  return documented(middleware, { operation: docs });
};
