import type { MiddlewareHandler } from 'hono';
import { authenticate, requireKey } from './authenticate.ts';
import type { AppEnv } from './context.ts';
import { type Access, documented, type Operation } from './openapi.ts';

const ENTRANCES: Record<Access, MiddlewareHandler<AppEnv>> = {
  public: (_c, next) => next(),
  key: requireKey,
  account: authenticate,
};

/** Says in the OpenAPI document what a route does, and lets in whom it says it is for. */
export const operation = (said: Operation): MiddlewareHandler<AppEnv> => {
  const entrance = ENTRANCES[said.access];
  return documented<MiddlewareHandler<AppEnv>>((c, next) => entrance(c, next), { operation: said });
};
