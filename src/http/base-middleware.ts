import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { AppError } from '../shared/app-error.ts';
import { newId } from '../shared/text/ids.ts';
import { logLine } from '../shared/text/log.ts';
import type { AppEnv } from './context.ts';
import { errorResponse } from './errors.ts';
import { createLogSampler } from './log-sampler.ts';
import { countRequest, writeTraffic } from './request-counts.ts';
import { collectHeaders } from './response-headers.ts';

// Sets the request id and the response headers of every request, refuses plain http, and logs the request. This is one
// middleware because each middleware adds to the cost of a verify.

const sampleLog = createLogSampler();

/** Logs the route's pattern, never a path, query or body. Server errors are never sampled. */
const logRequest = (c: Context<AppEnv>, startMs: number) => {
  const { status } = c.res;
  const { method } = c.req;
  const nowMs = Date.now();
  const route = routePath(c, -1);
  const code = c.get('errorCode');
  const kind = `${method} ${route} ${status} ${code}`;
  const request = { method, route, status, code: code ?? '' };
  countRequest(kind, request, nowMs - startMs);
  writeTraffic(c.env, request, nowMs - startMs);
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

/** What most requests begin with. Any other URL is parsed. */
const USUAL_ORIGIN = /^https:|^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?\//;

/**
 * Refuses plain http, except from the same machine. Only GET and HEAD are redirected: a client that sends anything else,
 * and its credentials, in the clear should notice.
 */
const refusePlainHttp = (c: Context<AppEnv>): Response | null => {
  if (USUAL_ORIGIN.test(c.req.url)) return null;
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
  const completeHeaders = collectHeaders(c, requestId);
  const refusal = refusePlainHttp(c);
  if (refusal) c.res = refusal;
  else await next();
  // Hono drops the body, and a stream that nobody reads would go on.
  if (c.req.method === 'HEAD') await c.res.body?.cancel();
  completeHeaders(c.res);
  logRequest(c, startMs);
});
