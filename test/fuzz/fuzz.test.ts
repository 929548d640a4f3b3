import * as fc from 'fast-check';
import * as z from 'zod';
import { beforeAll, expect, test } from 'vitest';
import { documentedRoutes } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import { type Customer, type Answer, call, freshAddress, signUp } from '../support/client.ts';
import { undocumented } from '../support/openapi.ts';
import { newReceiver } from '../support/receiver.ts';
import { subscribe } from '../billing/sandbox.ts';
import { addWebhooks, leadsOutside, webhookUrl } from './webhooks.ts';
import { bodyText, headerValue, hostileString, inlined, queryText, type Schema } from './arbitraries.ts';

const SEED = 20_261_120;
const RUNS = 300;
/** Where nothing is read of what is sent, besides who sends it. */
const PLAIN_RUNS = 100;
/** Where a fitting body makes the service hash a password. */
const COSTLY_RUNS = 60;
const COSTLY = new Set(['register', 'login']);
/** Each key has a pace; so many of them never feel it. */
const KEYS = 40;

const ROUTES = documentedRoutes(app);

type Route = (typeof ROUTES)[number];

interface Caller {
  /** For whoever reads a counterexample. */
  who: string;
  headers: Record<string, string>;
}

const schemasOf = ({ inputs }: Route, place: 'body' | 'query') =>
  inputs
    .filter((input) => input.in === place)
    .map((input) => inlined({ ...z.toJSONSchema(input.schema, { io: 'input' }) }));

const caller = ({ operation }: Route, { token }: Customer, keys: string[]): fc.Arbitrary<Caller> => {
  const nobody = fc.constant<Caller>({ who: 'nobody', headers: {} });
  const session = fc.constant<Caller>({ who: 'session', headers: { authorization: `Bearer ${token}` } });
  const key = fc
    .nat()
    .map((n): Caller => ({ who: 'key', headers: { 'x-api-key': keys[n % keys.length] ?? '' } }));
  const pretender = fc.oneof(
    headerValue.map((value): Caller => ({ who: 'pretender', headers: { 'x-api-key': value } })),
    headerValue.map((value): Caller => ({ who: 'pretender', headers: { authorization: value } })),
    headerValue.map((value): Caller => ({ who: 'pretender', headers: { authorization: `Bearer ${value}` } })),
    headerValue.map((value): Caller => ({
      who: 'pretender',
      headers: { cookie: `__Host-session=${value}` },
    })),
    headerValue.map((origin): Caller => ({
      who: 'pretender',
      headers: { cookie: `__Host-session=${token}`, origin },
    })),
  );
  return fc.oneof(
    { weight: 1, arbitrary: nobody },
    { weight: 1, arbitrary: pretender },
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

/** One segment of a path; dots alone would be taken for directories. */
const pathSegment = fc
  .oneof(
    hostileString.map((text) => text.slice(0, 2_000)),
    fc.constantFrom('%', '%zz', '%E0%A4%A', '%00', '%2F', '%ff'),
  )
  .map((text) =>
    text.startsWith('%') ? text.replace(/[^%\w]/g, '_') : encodeURIComponent(text.toWellFormed()),
  )
  .filter((text) => !/^(?:\.|%2e){0,2}$/i.test(text));

/** By the part of the path that the id follows. */
const ID_PREFIX: Record<string, string> = {
  'api-keys': 'key_',
  licenses: 'lic_',
  webhooks: 'whe_',
  deliveries: 'dlv_',
};

/** Ids come from what the account has, from what it lost, and from nowhere. */
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

interface Fuzzed {
  caller: Caller;
  path: string;
  query: string;
  body: string | undefined;
  extra: Record<string, string>;
}

const fuzzed = (route: Route, ada: Customer, { keys, ids, url }: Belongings): fc.Arbitrary<Fuzzed> => {
  const fields = schemasOf(route, 'query').map(({ properties }) => properties as Record<string, Schema>);
  const bodies = schemasOf(route, 'body').map((schema) =>
    bodyText(schema, webhookUrl(url)).filter((text) => !leadsOutside(text)),
  );
  if (route.operation.id === 'login') {
    bodies.push(fc.constant(JSON.stringify({ email: ada.email, password: ada.password })));
  }
  const body = route.method === 'GET' ? [] : bodies.length > 0 ? bodies : [bodyText({})];
  return fc.record<Fuzzed>({
    caller: caller(route, ada, keys),
    path: pathOf(route, ids),
    query: fields[0] ? queryText(fields[0], ids) : fc.oneof(fc.constant(''), queryText({}, ids)),
    body: fc.oneof(fc.constant(undefined), ...body.map((arbitrary) => ({ weight: 9, arbitrary }))),
    extra: extraHeaders,
  });
};

interface Belongings {
  keys: string[];
  ids: string[];
  /** Where webhooks may go: nothing that is fuzzed leaves this machine. */
  url: string;
}

const collect = async (ada: Customer): Promise<Belongings> => {
  const keys = await Promise.all(
    Array.from({ length: KEYS }, async () => {
      const { body } = await ada.asSession('POST', '/api/create-api-key', {});
      return body.api_key as string;
    }),
  );
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      n < 4 ? ada.createLicense({ product: `No. ${n}` }) : ada.asSession('POST', '/api/create-api-key'),
    ),
  );
  const ids = [
    ...made.map((one) => (one.id ?? one.body.id) as string),
    'key_none',
    'lic_none',
    'whe_none',
    'dlv_none',
  ];
  return { keys, ids, url: (await newReceiver()).url };
};

const send = (route: Route, { caller, path, query, body, extra }: Fuzzed): Promise<Answer> =>
  call(route.method, query === '' ? path : `${path}?${query}`, {
    ...(body !== undefined && { body: body.toWellFormed() }),
    headers: { 'cf-connecting-ip': freshAddress(), ...extra, ...caller.headers },
  });

let ada: Customer;
let belongings: Belongings;

beforeAll(async () => {
  ada = await signUp();
  belongings = await collect(ada);
});

const signIn = async ({ email, password }: Customer): Promise<string> => {
  const { body } = await call('POST', '/api/login', { body: { email, password } });
  return body.session.token;
};

const runsOf = ({ path, operation, inputs }: Route) => {
  if (COSTLY.has(operation.id)) return COSTLY_RUNS;
  return inputs.length > 0 || path.includes(':') ? RUNS : PLAIN_RUNS;
};

test.for(ROUTES.map((route) => ({ route, method: route.method, path: route.path })))(
  '$method $path answers whatever is sent as its documentation says',
  async ({ route }) => {
    // Anew for each: signing in or out ends the session that was used.
    const own = { ...ada, token: await signIn(ada) };
    const { ids, url } = belongings;
    const webhooks = route.path.startsWith('/api/webhooks') ? await addWebhooks(ada, url) : [];
    const has = { ...belongings, ids: [...ids, ...webhooks] };
    if (route.operation.id === 'cancelSubscription') await subscribe(ada);
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fuzzed(route, own, has), async (request) => {
        const answer = await send(route, request);
        statuses.add(answer.status);
        expect({
          wrong: undocumented(route.method, request.path, answer),
          fault: answer.status >= 500 ? answer.body : null,
        }).toEqual({ wrong: [], fault: null });
      }),
      { seed: SEED, numRuns: runsOf(route) },
    );
    // It was no idle talk: some of it got through, unless it takes a signature.
    const signed = route.path.startsWith('/api/billing/');
    expect([...statuses].some((status) => status < 300)).toBe(!signed);
  },
);

test('no webhook that fuzzing has left behind leads anywhere but to this machine', async () => {
  const { body } = await ada.asSession('GET', '/api/webhooks');
  const hosts = body.data.map((webhook: { url: string }) => new URL(webhook.url).hostname);
  expect(new Set(hosts)).toEqual(new Set(['127.0.0.1']));
});
