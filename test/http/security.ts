// Helpers that call every route of the app, so that routes added later are tested too.
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { documentedRoutes } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import { type Answer, call, type Customer, outcomeOf } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { newReceiver } from '../support/receiver.ts';

export const routes = documentedRoutes(app);
export type Route = (typeof routes)[number];

export const protectedRoutes = routes.filter(({ operation }) => operation.access !== 'public');
/** The routes that accept a session, which an application's calls don't. */
export const accountRoutes = routes.filter(({ operation }) => operation.access === 'account');
export const routesWithId = accountRoutes.filter(({ path }) => path.includes(':'));

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;

/** The calls that an application makes with an API key. */
export const APPLICATION_CALLS = ['verify', 'activate', 'heartbeat', 'deactivate'].map(
  (call) => `/api/v1/licenses/${call}`,
);

/** Bodies for the routes that reject an empty one. */
const BODIES: Record<string, unknown> = {
  ...Object.fromEntries(APPLICATION_CALLS.map((path) => [`POST ${path}`, { license_key: 'AAAAA-AAAAA' }])),
  'POST /api/v1/licenses/:id/renew': { duration_days: 1 },
  'POST /api/webhooks/:id/replay': { since: '2027-03-10T12:00:00Z' },
  'PATCH /api/webhooks/:id': { description: 'Changed' },
  'PUT /api/stores/:id/offers/:ref': { product: 'orrery', grant: 'perpetual' },
  'POST /api/purchases/:id/assign': { product: 'orrery' },
};

/** Ids by the path segment before them, such as `licenses`. */
export type Ids = Record<string, string>;

export const pathTo = ({ path }: Pick<Route, 'path'>, ids: Ids) =>
  path.replace(/([^/]+)\/:[a-z_]+/g, (_whole, kind: string) => `${kind}/${ids[kind] ?? 'unknown'}`);

export const kindsIn = ({ path }: Route): string[] =>
  [...path.matchAll(/([^/]+)\/:[a-z_]+/g)].map(([, kind]) => kind ?? '');

const JWKS = '/api/v1/jwks/';

/** Whether pages of every origin may read the answer. */
export const isOpenToAnyOrigin = (path: string) => APPLICATION_CALLS.includes(path) || path.startsWith(JWKS);

/** Expects the headers that every response must carry. */
export const expectSecurityHeaders = (path: string, { status, headers }: Answer) => {
  expect({ path, status, ...Object.fromEntries(headers) }).toMatchObject({
    path,
    status,
    'x-request-id': expect.stringMatching(/^req_[0-9A-Za-z]{20}$/),
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    ...(path.startsWith('/api/') && { 'cache-control': 'no-store' }),
    ...(status !== 204 && { 'content-type': expect.stringMatching(/^application\/json/) }),
  });
  expect([path, headers.get('access-control-allow-origin')]).toEqual([
    path,
    isOpenToAnyOrigin(path) ? '*' : null,
  ]);
  expect([path, headers.get('access-control-allow-credentials')]).toEqual([path, null]);
};

/** Calls a route with a minimal valid body and checks the response's security headers. */
export const callRoute = async (
  route: Route,
  headers: Record<string, string> = {},
  ids: Ids = {},
): Promise<Answer> => {
  const takesBody = route.operation.body ?? route.operation.file;
  const path = pathTo(route, ids);
  const answer = await call(route.method, path, {
    headers,
    ...(takesBody && { body: BODIES[nameOf(route)] ?? {} }),
  });
  expectSecurityHeaders(path, answer);
  return answer;
};

/** Creates a webhook with a delivery and returns the ids for their paths. */
export const addWebhook = async ({ asSession }: Customer) => {
  const { url } = await newReceiver();
  const { body: webhook } = await asSession('POST', '/api/webhooks', { url });
  const { body: delivery } = await asSession('POST', `/api/webhooks/${webhook.id}/test`);
  return { webhook, ids: { webhooks: webhook.id as string, deliveries: delivery.id as string } };
};

export const mistype = (key: string) => key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');

/** Returns the outcome of every route, so that one comparison shows all that differ. */
export const callRoutes = async (
  chosen: Route[],
  headers: Record<string, string> = {},
  ids: Ids = {},
  pause: () => void = () => {},
) => {
  const answers: Record<string, string> = {};
  for (const route of chosen) {
    answers[nameOf(route)] = outcomeOf(await callRoute(route, headers, ids));
    pause();
  }
  return answers;
};

export const sameOutcome = (chosen: Route[], outcome: string) =>
  Object.fromEntries(chosen.map((route) => [nameOf(route), outcome]));

/** Captures what the Worker and its Durable Objects log until `stop` is called. */
export const captureLogs = () => {
  const lines: string[] = [];
  const spies = (['debug', 'log', 'info', 'warn', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((...values: unknown[]) => {
      lines.push(values.map((part) => (part instanceof Error ? String(part.stack) : String(part))).join(' '));
    }),
  );
  return {
    lines,
    stop: () => {
      for (const spy of spies) spy.mockRestore();
      return lines.join('\n');
    },
  };
};

/** The service's own secrets. */
export const SERVICE_SECRETS = [
  env.API_KEY_SECRET,
  ...env.SEALING_KEYS.split(',').map((entry) => entry.slice(entry.indexOf(':') + 1)),
  ...env.SIGNING_KEYS.split(','),
];

export const expectAbsent = (text: string, secrets: string[]) => {
  expect(secrets.filter((secret) => secret.length < 8)).toEqual([]);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
};

const dumpTables = async (d1: D1Database) => {
  const { results } = await d1
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
    )
    .all<{ name: string }>();
  expect(results.map(({ name }) => name)).toContain('api_keys');
  const tables = await d1.batch(results.map(({ name }) => d1.prepare(`SELECT * FROM "${name}"`)));
  return tables.map((table) => table.results);
};

/** Returns every row of every D1 table as JSON. */
export const dumpDatabase = async (): Promise<string> =>
  JSON.stringify(await Promise.all([firstD1, accountsD1].map(dumpTables)));
