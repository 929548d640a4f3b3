import type { Context } from 'hono';
import type { AppEnv } from './context.ts';

const EXPOSED_HEADERS = 'Latchkey-Region,RateLimit,RateLimit-Policy,Retry-After,X-Request-Id';

/** Lets web pages of any origin read the response. Hono's cors middleware would copy it and its headers several times. */
export const allowAnyOrigin = (c: Context<AppEnv>): void => {
  c.header('Access-Control-Allow-Origin', '*');
  c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS);
};

/** Answers preflights of an endpoint for web pages of any origin, and refuses other methods as not allowed. */
export const openOnlyTo = (method: string) => (c: Context<AppEnv>) => {
  if (c.req.method !== 'OPTIONS') {
    allowAnyOrigin(c);
    return c.notFound();
  }
  return c.body(null, 204, {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': 'Content-Type,X-Api-Key',
    'Access-Control-Max-Age': '86400',
  });
};
