import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { AppError } from '../shared/app-error.ts';
import { newId } from '../shared/text/ids.ts';
import { logLine } from '../shared/text/log.ts';
import type { AppEnv } from './context.ts';
import { errorResponse } from './errors.ts';
import { createLogSampler } from './log-sampler.ts';
import { countRequest } from './request-counts.ts';

// Sets the request id and the response headers of every request, refuses plain http, and logs the request. This is one
// middleware because each middleware adds to the cost of a verify.

const DEFAULT_CSP = "default-src 'none'; frame-ancestors 'none'";

/** Content security policies of the pages that load assets, by path prefix. */
const PAGE_CSPS: [prefix: string, policy: string][] = [
  [
    '/docs',
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  ],
  ['/checkout/', "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'"],
];

const SECURITY_HEADERS = Object.entries({
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=15552000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
});

const setHeaders = (headers: Headers, path: string) => {
  const [, policy] = PAGE_CSPS.find(([prefix]) => path.startsWith(prefix)) ?? [];
  headers.set('Content-Security-Policy', policy ?? DEFAULT_CSP);
  for (const [name, value] of SECURITY_HEADERS) headers.set(name, value);
  // Most API responses name secrets or personal data. A route that answers neither sets its own caching.
  if (path.startsWith('/api/') && !headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
};

const sampleLog = createLogSampler();

/** Logs the route's pattern, never a path, query or body. Server errors are never sampled. */
const logRequest = (c: Context<AppEnv>, startMs: number) => {
  const { status } = c.res;
  const { method } = c.req;
  const nowMs = Date.now();
  const route = routePath(c, -1);
  const code = c.get('errorCode');
  const kind = `${method} ${route} ${status} ${code}`;
  countRequest(kind, { method, route, status, code: code ?? '' }, nowMs - startMs);
  const times = status < 500 ? sampleLog(kind, nowMs) : 1;
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

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Refuses plain http, except from the same machine. Only GET and HEAD are redirected: a client that sends anything else,
 * and its credentials, in the clear should notice.
 */
const refusePlainHttp = (c: Context<AppEnv>): Response | null => {
  if (c.req.url.startsWith('https:')) return null;
  const url = new URL(c.req.url);
  if (LOOPBACK_HOST.test(url.hostname)) return null;
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
    return errorResponse(c, new AppError('https_required'));
  }
  url.protocol = 'https:';
  url.port = '';
  return c.redirect(url.href, 301);
};

export const baseMiddleware = createMiddleware<AppEnv>(async (c, next) => {
  const startMs = Date.now();
  const requestId = newId('req');
  c.set('requestId', requestId);
  const refusal = refusePlainHttp(c);
  if (refusal) c.res = refusal;
  else await next();
  const { headers } = c.res;
  headers.set('X-Request-Id', requestId);
  // The dashboard's files get their headers from `web/public/_headers`.
  if (!c.get('isDashboard')) setHeaders(headers, c.req.path);
  logRequest(c, startMs);
});
