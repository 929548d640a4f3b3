import { Hono } from 'hono';
import { except } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import { secureHeaders } from 'hono/secure-headers';
import { accountRoutes } from './accounts/routes.ts';
import { billingRoutes, checkoutRoutes } from './billing/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import type { AppEnv } from './http/context.ts';
import { onError } from './http/errors.ts';
import { notFoundIn } from './http/not-found.ts';
import { requestLog } from './http/request-log.ts';
import { licenseRoutes } from './licenses/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { dashboardPages, documentationRoutes, systemRoutes } from './system/routes.ts';

const noStore = createMiddleware(async (c, next) => {
  c.header('Cache-Control', 'no-store');
  await next();
});

const NOTHING_FROM_ANYWHERE = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };
const DOCS_FROM_HERE = {
  defaultSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  frameAncestors: ["'none'"],
};

const PLAIN_PAGE = { ...NOTHING_FROM_ANYWHERE, styleSrc: ["'unsafe-inline'"], imgSrc: ["'self'"] };

const headers = (contentSecurityPolicy: Partial<typeof DOCS_FROM_HERE>) =>
  secureHeaders({ contentSecurityPolicy, xFrameOptions: 'DENY' });

/** Beside these a browser finds the dashboard everywhere, which sets its own headers (`web/public/_headers`). */
const WORKER_PATHS = ['/api/*', '/health', '/openapi.json', '/docs', '/docs/*', '/checkout/*'];

const routes = new Hono<AppEnv>()
  .use(requestLog)
  .use(except(WORKER_PATHS, dashboardPages))
  .use('/docs/*', headers(DOCS_FROM_HERE))
  .use('/checkout/*', headers(PLAIN_PAGE))
  .use(except(['/docs', '/docs/*', '/checkout/*'], headers(NOTHING_FROM_ANYWHERE)))
  .use('/api/*', noStore)
  .route('/', systemRoutes)
  .route('/', documentationRoutes)
  .route('/', checkoutRoutes)
  .route('/api', accountRoutes)
  .route('/api', apiKeyRoutes)
  .route('/api', dashboardRoutes)
  .route('/api', billingRoutes)
  .route('/api/webhooks', webhookRoutes)
  .route('/api/v1/licenses', licenseRoutes);

export const app = routes.onError(onError);
app.notFound(notFoundIn(app));

/** What `hono/client` needs to know every route's input and answer. */
export type App = typeof routes;
