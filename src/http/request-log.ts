import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { newId } from '../shared/ids.ts';
import { logLine } from '../shared/log.ts';
import type { AppEnv } from './context.ts';

/** Names every request and leaves one line about it: the route's pattern, never the path, a query or a body. */
export const requestLog = createMiddleware<AppEnv>(async (c, next) => {
  const startMs = Date.now();
  const requestId = newId('req');
  c.set('requestId', requestId);
  await next();
  c.header('X-Request-Id', requestId);
  const { status } = c.res;
  logLine(status < 500 ? 'info' : 'error', {
    request_id: requestId,
    method: c.req.method,
    route: routePath(c, -1),
    status,
    code: c.var.errorCode,
    duration_ms: Date.now() - startMs,
    account_id: c.var.ctx?.accountId ?? c.var.key?.accountId,
    key_id: c.var.key?.keyId,
    ...c.var.fault,
  });
});
