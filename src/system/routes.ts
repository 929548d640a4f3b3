import { type Context, Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { AppError } from '../shared/app-error.ts';
import { isPagePath } from '../shared/rules/pages.ts';
import { checkHealth, healthBody } from './health.ts';

export const systemRoutes = new Hono<AppEnv>().get(
  '/health',
  endpoint({
    id: 'getHealth',
    tag: 'System',
    summary: 'Check the service’s health',
    description:
      'Answers 503 with the status `degraded` if a check fails. The call creates nothing and isn’t counted.',
    access: 'public',
    answers: [
      { status: 200, description: 'All checks passed.', schema: healthBody },
      { status: 503, description: 'A check failed.', schema: healthBody },
    ],
  }),
  async (c) => {
    const health = await checkHealth(c.env);
    return c.json(health, health.status === 'ok' ? 200 : 503);
  },
);

/** Fetches a static asset. Copies the response to make its headers mutable. */
const fetchAsset = async (c: Context<AppEnv>, path = c.req.path) => {
  const response = await c.env.ASSETS.fetch(new Request(new URL(path, c.req.url), c.req.raw));
  return new Response(response.body, response);
};

/** Paths that the Worker serves itself. At any other path, the dashboard tells a browser that there is no page. */
const WORKER_PATHS = /^\/(?:api\/|health$|openapi\.json$|docs(?:\/|$)|checkout\/|operator\/|portal-api\/)/;

const isNavigation = (c: Context<AppEnv>) =>
  c.req.header('sec-fetch-mode') === 'navigate' || (c.req.header('accept') ?? '').includes('text/html');

const isPageRequest = (c: Context<AppEnv>) =>
  (c.req.method === 'GET' || c.req.method === 'HEAD') &&
  (isPagePath(c.req.path) || (isNavigation(c) && !WORKER_PATHS.test(c.req.path)));

/** Serves the single-page dashboard: its pages to whoever asks, and any other path to browsers. Otherwise, returns null. */
export const dashboardPage = (c: Context<AppEnv>) => {
  if (!isPageRequest(c)) return null;
  c.set('hasFileHeaders', true);
  return fetchAsset(c, '/');
};

/** Serves a page of the guides, its Markdown, or what the pages load. */
const guidesFile = async (c: Context<AppEnv>, path?: string) => {
  const response = await fetchAsset(c, path);
  if (response.status === 404) throw new AppError('not_found');
  c.set('hasFileHeaders', true);
  return response;
};

/** Serves the page of a seller's portal. It finds out itself whether there is one. */
export const portalPageRoutes = new Hono<AppEnv>().get('/portal/:slug', (c) => {
  c.set('hasFileHeaders', true);
  return fetchAsset(c, '/portal');
});

export const documentationRoutes = new Hono<AppEnv>()
  .get('/openapi.json', (c) => fetchAsset(c))
  .get('/docs', (c) => guidesFile(c, '/docs/'))
  .get('/docs/*', (c) => guidesFile(c));
