import * as fc from 'fast-check';
import * as z from 'zod';
import { expect, inject, test } from 'vitest';
import { documentedRoutes } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import { type Answer, call, type Customer, freshAddress, type Json, signUp } from '../support/client.ts';
import { undocumented } from '../support/openapi.ts';
import { newReceiver } from '../support/receiver.ts';
import { subscribe } from '../billing/sandbox.ts';
import { createWebhooks, expectOnlyLocalWebhooks, hasPublicUrl, webhookUrl } from './webhooks.ts';
import { bodyText, headerValue, hostileString, inlined, queryText, type Schema } from './arbitraries.ts';

const SEED = 20_261_120;
/** Requests per route. `runs.ts` says how to change the number. */
const RUNS = inject('fuzzRuns');
/** For routes that read nothing but the caller's credentials. */
const RUNS_WITHOUT_INPUT = Math.ceil(RUNS / 3);
/** For routes that hash a password when the body is valid. */
const RUNS_WITH_HASHING = Math.ceil(RUNS / 5);
const HASHING = new Set(['register', 'login']);
/** Enough API keys that a deleted one rarely comes up. */
const KEYS = 4;

const ROUTES = documentedRoutes(app);

type Route = (typeof ROUTES)[number];

const isAboutWebhooks = ({ path }: Route) => path.startsWith('/api/webhooks');

interface Caller {
  /** Names the caller in counterexamples. */
  name: string;
  headers: Record<string, string>;
}

const schemasOf = ({ inputs }: Route, place: 'body' | 'query') =>
  inputs
    .filter((input) => input.in === place)
    .map((input) => inlined({ ...z.toJSONSchema(input.schema, { io: 'input' }) }));

const caller = ({ operation }: Route, { token }: Customer, keys: string[]): fc.Arbitrary<Caller> => {
  const anonymous = fc.constant<Caller>({ name: 'anonymous', headers: {} });
  const session = fc.constant<Caller>({ name: 'session', headers: { authorization: `Bearer ${token}` } });
  const key = fc
    .nat()
    .map((n): Caller => ({ name: 'key', headers: { 'x-api-key': keys[n % keys.length] ?? '' } }));
  const forged = fc.oneof(
    headerValue.map((value): Caller => ({ name: 'forged', headers: { 'x-api-key': value } })),
    headerValue.map((value): Caller => ({ name: 'forged', headers: { authorization: value } })),
    headerValue.map((value): Caller => ({ name: 'forged', headers: { authorization: `Bearer ${value}` } })),
    headerValue.map((value): Caller => ({
      name: 'forged',
      headers: { cookie: `__Host-session=${value}` },
    })),
    headerValue.map((origin): Caller => ({
      name: 'forged',
      headers: { cookie: `__Host-session=${token}`, origin },
    })),
  );
  return fc.oneof(
    { weight: 1, arbitrary: anonymous },
    { weight: 1, arbitrary: forged },
    { weight: operation.access === 'account' ? 9 : 1, arbitrary: session },
    { weight: operation.access === 'key' ? 12 : 3, arbitrary: key },
  );
};

const extraHeaders = fc.oneof(
  { weight: 14, arbitrary: fc.constant<Record<string, string>>({}) },
  headerValue.map((value) => ({ 'idempotency-key': value })),
  fc.constantFrom('a', 'b').map((value) => ({ 'idempotency-key': value })),
  headerValue.map((value) => ({ origin: value })),
  headerValue.map((value) => ({ cookie: value })),
  headerValue.map((value) => ({ 'content-type': value })),
  fc
    .constantFrom(
      'application/a+b+json',
      'application/json;charset=utf-16',
      'text/json',
      'multipart/form-data',
    )
    .map((value) => ({ 'content-type': value })),
  headerValue.map((value) => ({ 'sec-fetch-site': value, 'accept-language': value })),
);

/** A path segment. Excludes `.` and `..`, which URLs resolve. */
const pathSegment = fc
  .oneof(
    hostileString.map((text) => text.slice(0, 2_000)),
    fc.constantFrom('%', '%zz', '%E0%A4%A', '%00', '%2F', '%ff'),
  )
  .map((text) =>
    text.startsWith('%') ? text.replace(/[^%\w]/g, '_') : encodeURIComponent(text.toWellFormed()),
  )
  .filter((text) => !/^(?:\.|%2e){0,2}$/i.test(text));

/** The prefix of an id by the path segment before it. */
const ID_PREFIX: Record<string, string> = {
  'api-keys': 'key_',
  licenses: 'lic_',
  activations: 'act_',
  products: 'prd_',
  jwks: 'acct_',
  webhooks: 'whe_',
  deliveries: 'dlv_',
  sessions: 'ses_',
};

/** A path with ids of the right kind, ids of another kind and arbitrary segments. */
const pathOf = ({ path }: Route, ids: string[]): fc.Arbitrary<string> => {
  const segments = path.split('/').map((segment, i, all) => {
    if (!segment.startsWith(':')) return fc.constant(segment);
    const ofKind = ids.filter((id) => id.startsWith(ID_PREFIX[all[i - 1] ?? ''] ?? '?'));
    return fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...ofKind) },
      { weight: 2, arbitrary: fc.constantFrom(...ids) },
      { weight: 2, arbitrary: pathSegment },
    );
  });
  return fc.tuple(...segments).map((parts) => parts.join('/'));
};

interface FuzzedRequest {
  caller: Caller;
  path: string;
  query: string;
  body: string | undefined;
  extra: Record<string, string>;
}

const fuzzedRequest = (
  route: Route,
  { keys, ids, url }: Resources,
  customer: Customer,
): fc.Arbitrary<FuzzedRequest> => {
  const fields = schemasOf(route, 'query').map(({ properties }) => properties as Record<string, Schema>);
  const bodies = schemasOf(route, 'body').map((schema) =>
    bodyText(schema, webhookUrl(url)).filter((text) => !hasPublicUrl(text)),
  );
  if (route.operation.id === 'login') {
    bodies.push(fc.constant(JSON.stringify({ email: customer.email, password: customer.password })));
  }
  const body = route.method === 'GET' ? [] : bodies.length > 0 ? bodies : [bodyText({})];
  return fc.record<FuzzedRequest>({
    caller: caller(route, customer, keys),
    path: pathOf(route, ids),
    query: fields[0] ? queryText(fields[0], ids) : fc.oneof(fc.constant(''), queryText({}, ids)),
    body: fc.oneof(fc.constant(undefined), ...body.map((arbitrary) => ({ weight: 9, arbitrary }))),
    extra: extraHeaders,
  });
};

interface Resources {
  keys: string[];
  ids: string[];
  /** The URL of webhooks, on this machine. */
  url: string;
}

const createResources = async (customer: Customer, route: Route): Promise<Resources> => {
  const createKey = async (): Promise<Json> =>
    (await customer.asSession('POST', '/api/create-api-key', {})).body;
  const repeat = <T>(count: number, create: () => Promise<T>) =>
    Promise.all(Array.from({ length: count }, create));
  const keys = await repeat(KEYS, createKey);
  const keysToDelete = await repeat(8, createKey);
  await customer.asSession('PUT', '/api/v1/products/prd_orrery', { terms: { max_activations: 1 } });
  await customer.asSession('PUT', '/api/v1/products/prd_unused', {});
  // Half of them have no limit of seats.
  const seated = await repeat(2, () => customer.createLicense({ product: 'prd_orrery' }));
  const licenses = [...seated, ...(await repeat(2, () => customer.createLicense({ product: 'Orrery' })))];
  const activations = await Promise.all(
    licenses.map(async ({ license_key }): Promise<Json> => {
      const sent = { license_key, fingerprint: 'machine-0001' };
      return (await customer.asKey('POST', '/api/v1/licenses/activate', sent)).body.activation;
    }),
  );
  if (route.operation.id === 'reinstateLicense') {
    await Promise.all(licenses.map(({ id }) => customer.asSession('POST', `/api/v1/licenses/${id}/suspend`)));
  }
  const { url } = await newReceiver();
  const webhookIds = isAboutWebhooks(route) ? await createWebhooks(customer, url) : [];
  // The session of the fuzzed calls is left out: ending it would leave nothing to test.
  await call('POST', '/api/login', { body: { email: customer.email, password: customer.password } });
  const sessions: Json[] = (await customer.asSession('GET', '/api/sessions')).body.data;
  const others = sessions.filter(({ current }) => !current);
  const ids = [...licenses, ...activations, ...keysToDelete, ...others].map(({ id }): string => id);
  return {
    keys: keys.map(({ api_key: key }): string => key),
    ids: [
      ...ids,
      ...webhookIds,
      customer.accountId,
      'prd_orrery',
      'prd_unused',
      'act_none',
      'key_none',
      'lic_none',
      'whe_none',
      'dlv_none',
    ],
    url,
  };
};

/** Succeed only with a token from an email, a code, the current password, or lines instead of JSON. */
const NEEDS_PROOF = new Set([
  'resetPassword',
  'verifyEmail',
  'loginTwoFactor',
  'confirmTwoFactor',
  'disableTwoFactor',
  'changePassword',
  'changeEmail',
  'eraseAccount',
  'importLicenses',
]);

const send = (route: Route, { caller, path, query, body, extra }: FuzzedRequest): Promise<Answer> =>
  call(route.method, query === '' ? path : `${path}?${query}`, {
    ...(body !== undefined && { body: body.toWellFormed() }),
    headers: { 'cf-connecting-ip': freshAddress(), ...extra, ...caller.headers },
  });

const runsOf = ({ path, operation, inputs }: Route) => {
  if (HASHING.has(operation.id)) return RUNS_WITH_HASHING;
  return inputs.length > 0 || path.includes(':') ? RUNS : RUNS_WITHOUT_INPUT;
};

test.for(ROUTES.map((route) => [route.method, route.path, route] as const))(
  '%s %s answers every fuzzed request as documented',
  async ([, , route]) => {
    // Each route has its own account, so that no route uses up the rate limits of another.
    const customer = await signUp();
    await subscribe(customer, 'scale');
    const resources = await createResources(customer, route);
    const arbitrary = fuzzedRequest(route, resources, customer);
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(arbitrary, async (request) => {
        const answer = await send(route, request);
        statuses.add(answer.status);
        expect({
          undocumented: undocumented(route.method, request.path, answer),
          failure: answer.status >= 500 ? answer.body : null,
        }).toEqual({ undocumented: [], failure: null });
      }),
      { seed: SEED, numRuns: runsOf(route) },
    );
    // Some requests succeed, except at routes that require a provider's signature or another proof.
    const needsProof = route.path.startsWith('/api/billing/') || NEEDS_PROOF.has(route.operation.id);
    expect(needsProof || [...statuses].some((status) => status < 300)).toBe(true);
    if (isAboutWebhooks(route)) await expectOnlyLocalWebhooks(customer);
  },
);
