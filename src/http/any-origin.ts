import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './context.ts';

const EXPOSED_HEADERS = 'Latchkey-Region,RateLimit,RateLimit-Policy,Retry-After,X-Request-Id';

/** CORS headers for any origin. Hono's cors middleware would copy every response and its headers several times. */
export const allowAnyOrigin = (methods: string) =>
  createMiddleware<AppEnv>(async (c, next) => {
    c.header('Access-Control-Allow-Origin', '*');
    if (c.req.method !== 'OPTIONS') {
      c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS);
      return next();
    }
    c.header('Access-Control-Allow-Methods', methods);
    c.header('Access-Control-Allow-Headers', 'Content-Type,X-Api-Key');
    c.header('Access-Control-Max-Age', '86400');
    return c.body(null, 204);
  });
