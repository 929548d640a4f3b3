import * as fc from 'fast-check';
import * as z from 'zod';
import type { documentedRoutes } from '../../scripts/openapi.ts';
import { type Answer, call, type Customer, freshAddress } from '../support/client.ts';
import { bodyText, headerValue, hostileString, inlined, queryText, type Schema } from './arbitraries.ts';
import { hasPublicUrl, webhookUrl } from './webhooks.ts';

// Random requests to a documented route.

export type Route = ReturnType<typeof documentedRoutes>[number];

export interface Resources {
  keys: string[];
  ids: string[];
  /** The URL of webhooks, on this machine. */
  url: string;
}

interface Caller {
  /** Names the caller in counterexamples. */
  name: string;
  headers: Record<string, string>;
}

const jsonSchema = (schema: z.ZodType | undefined) =>
  schema ? [inlined({ ...z.toJSONSchema(schema, { io: 'input' }) })] : [];

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
  stores: 'sto_',
  offers: 'ref_',
  purchases: 'pur_',
  deliveries: 'dlv_',
  sessions: 'ses_',
};

/** An offer is for a product that exists, which no random text names. */
const withKnownProduct = (schema: Schema, products: string[]): Schema => {
  const properties = schema['properties'] as Record<string, Schema> | undefined;
  return properties?.['product']
    ? { ...schema, properties: { ...properties, product: { enum: products } } }
    : schema;
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

const isOfStore = ({ path }: Route) => /^\/api\/(?:stores|purchases)/.test(path);

interface FuzzedRequest {
  caller: Caller;
  path: string;
  query: string;
  body: string | undefined;
  extra: Record<string, string>;
}

export const fuzzedRequest = (
  route: Route,
  { keys, ids, url }: Resources,
  customer: Customer,
): fc.Arbitrary<FuzzedRequest> => {
  const { query, body: json, file } = route.operation;
  const fields = jsonSchema(query).map(({ properties }) => properties as Record<string, Schema>);
  const products = ids.filter((id) => id.startsWith(ID_PREFIX['products'] ?? ''));
  const bodies = jsonSchema(json ?? file?.schema).map((schema) =>
    bodyText(isOfStore(route) ? withKnownProduct(schema, products) : schema, webhookUrl(url)).filter(
      (text) => !hasPublicUrl(text),
    ),
  );
  if (route.operation.id === 'login') {
    bodies.push(fc.constant(JSON.stringify({ email: customer.email, password: customer.password })));
  }
  const body = route.method === 'GET' ? [] : bodies.length > 0 ? bodies : [bodyText({})];
  return fc.record<FuzzedRequest>({
    caller: caller(route, customer, keys),
    path: pathOf(route, ids),
    // `test/http/unknown-parameters.test.ts` calls routes without parameters with one.
    query: fields[0] ? queryText(fields[0], ids) : fc.constant(''),
    body: fc.oneof(fc.constant(undefined), ...body.map((arbitrary) => ({ weight: 9, arbitrary }))),
    extra: extraHeaders,
  });
};

export const send = (route: Route, { caller, path, query, body, extra }: FuzzedRequest): Promise<Answer> =>
  call(route.method, query === '' ? path : `${path}?${query}`, {
    ...(body !== undefined && { body: body.toWellFormed() }),
    headers: { 'cf-connecting-ip': freshAddress(), ...extra, ...caller.headers },
  });
