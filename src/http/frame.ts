import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { newId } from '../shared/ids.ts';
import { logLine } from '../shared/log.ts';
import type { AppEnv } from './context.ts';
import { openThinning } from './thinning.ts';

// What goes around every request: its name, the headers that each answer carries, its line in the log. One
// middleware and not one for each, since a verify goes through all of it.

const NOTHING = "default-src 'none'; frame-ancestors 'none'";
/** Of paths that begin so; all others have nothing to load. */
const POLICIES: [prefix: string, policy: string][] = [
  [
    '/docs',
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  ],
  ['/checkout/', "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'"],
];

const EVERYWHERE = Object.entries({
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=15552000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
});

const setHeaders = (headers: Headers, path: string) => {
  const [, policy] = POLICIES.find(([prefix]) => path.startsWith(prefix)) ?? [];
  headers.set('Content-Security-Policy', policy ?? NOTHING);
  for (const [name, value] of EVERYWHERE) headers.set(name, value);
  if (path.startsWith('/api/')) headers.set('Cache-Control', 'no-store');
};

const timesOf = openThinning();

/** The line has the route's pattern, never the path, a query or a body. Faults have a line each, others up to ten a second. */
const logRequest = (c: Context<AppEnv>, startMs: number) => {
  const { status } = c.res;
  const { method } = c.req;
  const nowMs = Date.now();
  const route = routePath(c, -1);
  const code = c.get('errorCode');
  const times = status < 500 ? timesOf(`${method} ${route} ${status} ${code}`, nowMs) : 1;
  if (times === 0) return;
  const key = c.get('key');
  logLine(status < 500 ? 'info' : 'error', {
    request_id: c.get('requestId'),
    method,
    route,
    status,
    code,
    duration_ms: nowMs - startMs,
    account_id: c.get('ctx')?.accountId ?? key?.accountId,
    key_id: key?.keyId,
    times: times > 1 ? times : undefined,
    ...c.get('fault'),
  });
};

export const frame = createMiddleware<AppEnv>(async (c, next) => {
  const startMs = Date.now();
  const requestId = newId('req');
  c.set('requestId', requestId);
  await next();
  const { headers } = c.res;
  headers.set('X-Request-Id', requestId);
  // The dashboard's files come with headers of their own (`web/public/_headers`).
  if (!c.get('isDashboard')) setHeaders(headers, c.req.path);
  logRequest(c, startMs);
});
