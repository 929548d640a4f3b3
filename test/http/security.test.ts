import { listDurableObjectIds } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { mintApiKey } from '../../src/api-keys/api-key.ts';
import { app } from '../../src/app.ts';
import { type Answer, call, type Customer, ORIGIN, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import {
  accountRoutes,
  addWebhook,
  sameOutcome,
  mistype,
  APPLICATION_CALLS,
  nameOf,
  protectedRoutes,
  routes,
  callRoutes,
} from './security.ts';

const VERIFY = 'POST /api/v1/licenses/verify';
const UNKNOWN_ACCOUNT = `acct_${'0'.repeat(20)}`;
const UNKNOWN_KEY = `key_${'0'.repeat(20)}`;
const cookieFor = (token: string) => `__Host-session=${token}`;

test('every route is documented with its access, and only eleven are public', () => {
  const documented = new Set(routes.map(nameOf));
  const undocumented = app.routes.filter((route) => route.method !== 'ALL' && !documented.has(nameOf(route)));
  expect(undocumented.filter(({ path }) => path.startsWith('/api'))).toEqual([]);
  expect(protectedRoutes.length).toBeGreaterThan(24);
  const publicRoutes = routes.filter(({ operation }) => operation.access === 'public').map(nameOf);
  // The two billing routes verify the payment provider's signature.
  expect(publicRoutes).toEqual([
    'GET /health',
    'POST /api/register',
    'POST /api/login',
    'POST /api/login/two-factor',
    'POST /api/forgot-password',
    'POST /api/reset-password',
    'POST /api/verify-email',
    'POST /api/restore-email',
    'POST /api/billing/stripe',
    'POST /api/billing/sandbox',
    'GET /api/v1/jwks/:account_id',
  ]);
  const keyOnlyRoutes = routes.filter(({ operation }) => operation.access === 'key').map(nameOf);
  expect(keyOnlyRoutes).toEqual(APPLICATION_CALLS.map((path) => `POST ${path}`));
});

test.for([
  { name: 'without a credential', headers: {} },
  { name: 'with Basic authorization', headers: { authorization: 'Basic YWRhOnNlY3JldA==' } },
  { name: 'with the cookie of plain http', headers: { cookie: 'session=of-plain-http; other=1' } },
])('$name every protected route answers api_key_required', async ({ headers }) => {
  expect(await callRoutes(protectedRoutes, headers)).toEqual(
    sameOutcome(protectedRoutes, '401 api_key_required'),
  );
});

describe('an invalid API key', () => {
  let ada: Customer;
  const invalidKeys: Record<string, string> = {};
  const earlierStatuses: number[] = [];

  beforeAll(async () => {
    ada = await signUp();
    const mint = (secret: string) => mintApiKey([secret], ada.accountId, ada.apiKeyId).apiKey;
    const unknownAccount = mintApiKey([env.API_KEY_SECRET], UNKNOWN_ACCOUNT, UNKNOWN_KEY).apiKey;
    const expiring = await ada.asSession('POST', '/api/create-api-key', {
      expires_at: new Date(Date.now() + 600_000).toISOString(),
    });
    const deleted = await ada.asSession('POST', '/api/create-api-key', {});
    Object.assign(invalidKeys, {
      empty: '',
      malformed: 'nonsense',
      'only the prefix': 'lk_live_',
      'too long': `${ada.apiKey}x`,
      'mistyped in its last character': mistype(ada.apiKey),
      'mistyped in its secret part': `${mistype(ada.apiKey.slice(0, 60))}${ada.apiKey.slice(60)}`,
      'signed with another secret': mint('not-the-secret-of-this-service-0123'),
      'signed correctly with a guessed secret part': mint(env.API_KEY_SECRET),
      'of an unknown account': unknownAccount,
      deleted: deleted.body.api_key,
      expired: expiring.body.api_key,
    });
    const verifyStatus = async ({ body }: Answer) => (await ada.verify('AAAAAAAA', body.api_key)).status;
    earlierStatuses.push(await verifyStatus(deleted), await verifyStatus(expiring));
    await ada.asSession('DELETE', `/api/api-keys/${deleted.body.id}`);
    earlierStatuses.push(await verifyStatus(deleted));
  });

  test('worked before it was deleted or expired', () => {
    expect(earlierStatuses).toEqual([200, 200, 403]);
  });

  test.for([
    'empty',
    'malformed',
    'only the prefix',
    'too long',
    'mistyped in its last character',
    'mistyped in its secret part',
    'signed with another secret',
    'signed correctly with a guessed secret part',
    'of an unknown account',
    'deleted',
    'expired',
  ])('that is %s is refused by every route, even along with a valid session', async (name) => {
    useFakeClock(Date.now() + 600_000);
    const headers = {
      'x-api-key': invalidKeys[name] ?? 'missing from this test',
      authorization: `Bearer ${ada.token}`,
      cookie: cookieFor(ada.token),
    };
    expect(invalidKeys).toHaveProperty(name);
    // A key that once was valid has a rate limit.
    const pause = () => vi.advanceTimersByTime(100);
    expect(await callRoutes(protectedRoutes, headers, {}, pause)).toEqual(
      sameOutcome(protectedRoutes, '403 api_key_invalid'),
    );
  });
});

test('1,000 forged API keys create no Durable Object', async () => {
  const before = (await listDurableObjectIds(env.GATE)).length;
  for (let i = 0; i < 1_000; i += 50) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, j) => {
        const accountId = `acct_${String(i + j).padStart(20, '0')}`;
        const { apiKey } = mintApiKey(['not-the-secret-of-this-service-0123'], accountId, UNKNOWN_KEY);
        return call('POST', '/api/v1/licenses/verify', {
          body: { license_key: 'AAAAAAAA' },
          headers: { 'x-api-key': apiKey },
        });
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
  }
  expect(await listDurableObjectIds(env.GATE)).toHaveLength(before);
});

test('a verify-only API key gets insufficient_scope on every other route', async () => {
  const { ada, license } = await sellerWithLicense({}, 'pro');
  const { body: verifyKey } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const { ids: hook } = await addWebhook(ada);
  const ids = { licenses: license.id, 'api-keys': ada.apiKeyId, ...hook };
  const headers = { 'x-api-key': verifyKey.api_key, authorization: `Bearer ${ada.token}` };
  expect(await callRoutes(accountRoutes, headers, ids)).toEqual(
    sameOutcome(accountRoutes, '403 insufficient_scope'),
  );
  expect((await ada.verify(license.license_key, verifyKey.api_key)).body.valid).toBe(true);
});

describe('session authentication', () => {
  const UNKNOWN_TOKEN = `lks_${'A'.repeat(43)}`;
  let ada: Customer;

  beforeAll(async () => {
    ada = await signUp();
  });

  const withToken = (token: string) => ({ authorization: `Bearer ${token}` });

  test.for([
    { name: 'an unknown bearer token', headers: () => withToken(UNKNOWN_TOKEN) },
    { name: 'an unknown cookie', headers: () => ({ cookie: cookieFor(UNKNOWN_TOKEN) }) },
    { name: 'an API key as bearer token', headers: () => withToken(ada.apiKey) },
    {
      name: 'an unknown bearer token, despite a valid cookie',
      headers: () => ({ ...withToken(UNKNOWN_TOKEN), cookie: cookieFor(ada.token) }),
    },
  ])('refuses $name on every route', async ({ headers }) => {
    expect(await callRoutes(accountRoutes, headers())).toEqual(
      sameOutcome(accountRoutes, '401 invalid_session'),
    );
  });

  test.for([
    { name: 'bearer token', headers: () => withToken(ada.token) },
    { name: 'cookie', headers: () => ({ cookie: cookieFor(ada.token) }) },
  ])('can’t verify a license with a valid $name', async ({ headers }) => {
    const verify = routes.filter((route) => nameOf(route) === VERIFY);
    expect(await callRoutes(verify, headers())).toEqual({ [VERIFY]: '401 api_key_required' });
  });

  const foreignOrigins: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://latchkey.test' },
    { origin: 'https://shop.latchkey.test', 'sec-fetch-site': 'same-site' },
    { origin: 'https://latchkey.test.evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  test.for(foreignOrigins)('refuses the cookie with %j on every route', async (headers) => {
    expect(await callRoutes(accountRoutes, { cookie: cookieFor(ada.token), ...headers })).toEqual(
      sameOutcome(accountRoutes, '403 origin_not_allowed'),
    );
  });

  const ownOrigins: Record<string, string>[] = [
    { origin: ORIGIN },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ];
  test.for(ownOrigins)('accepts the cookie with %j', async (headers) => {
    const { status } = await call('GET', '/api/account', {
      headers: { cookie: cookieFor(ada.token), ...headers },
    });
    expect(status).toBe(200);
  });
});
