import { listDurableObjectIds } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { mintApiKey } from '../../src/auth/api-key.ts';
import { app } from '../../src/app.ts';
import { call, ORIGIN, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import {
  accountRoutes,
  addWebhook,
  sameOutcome,
  expectSecurityHeaders,
  kindsIn,
  mistype,
  nameOf,
  protectedRoutes,
  routes,
  routesWithId,
  callRoutes,
} from './security.ts';

const VERIFY = 'POST /api/v1/licenses/verify';
const cookie = (token: string) => `__Host-session=${token}`;

test('every route says who may call it, and only these few are open to all', () => {
  const documented = new Set(routes.map(nameOf));
  const undocumented = app.routes.filter((route) => route.method !== 'ALL' && !documented.has(nameOf(route)));
  expect(undocumented.filter(({ path }) => path.startsWith('/api'))).toEqual([]);
  expect(protectedRoutes.length).toBeGreaterThan(24);
  const open = routes.filter(({ operation }) => operation.access === 'public').map(nameOf);
  // The last two know their callers by a signature.
  expect(open).toEqual([
    'GET /health',
    'POST /api/register',
    'POST /api/login',
    'POST /api/billing/stripe',
    'POST /api/billing/sandbox',
  ]);
  const byKeyAlone = routes.filter(({ operation }) => operation.access === 'key').map(nameOf);
  expect(byKeyAlone).toEqual([VERIFY]);
});

test('without a credential every protected route asks for an API key', async () => {
  const asked = sameOutcome(protectedRoutes, '401 api_key_required');
  expect(await callRoutes(protectedRoutes)).toEqual(asked);
  expect(await callRoutes(protectedRoutes, { authorization: 'Basic YWRhOnNlY3JldA==' })).toEqual(asked);
  expect(await callRoutes(protectedRoutes, { cookie: 'session=of-plain-http; other=1' })).toEqual(asked);
});

test('a bad API key is refused everywhere, whatever good session comes with it', async () => {
  useFakeClock();
  const ada = await signUp();
  const shortLived = await ada.asSession('POST', '/api/create-api-key', {
    expires_at: new Date(Date.now() + 60_000).toISOString(),
  });
  const doomed = await ada.asSession('POST', '/api/create-api-key', {});
  const guess = (secret: string) => mintApiKey(secret, ada.accountId, ada.apiKeyId).apiKey;
  const nobodys = mintApiKey(env.API_KEY_SECRET, `acct_${'0'.repeat(20)}`, `key_${'0'.repeat(20)}`).apiKey;
  const badKeys: Record<string, string> = {
    malformed: 'nonsense',
    'the prefix alone': 'lk_live_',
    'too long': `${ada.apiKey}x`,
    'its last character mistyped': mistype(ada.apiKey),
    'a character of the secret mistyped': `${mistype(ada.apiKey.slice(0, 60))}${ada.apiKey.slice(60)}`,
    'tagged with another secret': guess('not-the-secret-of-this-service-0123'),
    'tagged well, with a guessed secret part': guess(env.API_KEY_SECRET),
    'of an account that never was': nobodys,
    deleted: doomed.body.api_key,
    expired: shortLived.body.api_key,
  };
  expect((await ada.verify('AAAAAAAA', doomed.body.api_key)).status).toBe(200);
  await ada.asSession('DELETE', `/api/api-keys/${doomed.body.id}`);
  expect((await ada.verify('AAAAAAAA', doomed.body.api_key)).body.error.code).toBe('api_key_invalid');
  expect((await ada.verify('AAAAAAAA', shortLived.body.api_key)).status).toBe(200);
  vi.advanceTimersByTime(60_000);

  for (const [what, apiKey] of Object.entries(badKeys)) {
    const headers = {
      'x-api-key': apiKey,
      authorization: `Bearer ${ada.token}`,
      cookie: cookie(ada.token),
    };
    expect({ what, ...(await callRoutes(protectedRoutes, headers)) }).toEqual({
      what,
      ...sameOutcome(protectedRoutes, '403 api_key_invalid'),
    });
  }
});

test('forged keys wake nobody up: no object comes of a thousand guesses', async () => {
  const before = (await listDurableObjectIds(env.GATE)).length;
  for (let i = 0; i < 1_000; i += 50) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, j) => {
        const accountId = `acct_${String(i + j).padStart(20, '0')}`;
        const { apiKey } = mintApiKey(
          'not-the-secret-of-this-service-0123',
          accountId,
          `key_${'0'.repeat(20)}`,
        );
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

test('a key that may only verify does nothing else', async () => {
  const ada = await signUp();
  const license = await ada.createLicense();
  const { body: shipped } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const { ids: hook } = await addWebhook(ada);
  const ids = { licenses: license.id, 'api-keys': ada.apiKeyId, ...hook };
  const headers = { 'x-api-key': shipped.api_key, authorization: `Bearer ${ada.token}` };
  expect(await callRoutes(accountRoutes, headers, ids)).toEqual(
    sameOutcome(accountRoutes, '403 insufficient_scope'),
  );
  expect((await ada.verify(license.license_key, shipped.api_key)).body.valid).toBe(true);
});

test('an unknown session opens nothing, and no session verifies a license', async () => {
  const ada = await signUp();
  const wrong = `lks_${'A'.repeat(43)}`;
  const unknown = sameOutcome(accountRoutes, '401 invalid_session');
  expect(await callRoutes(accountRoutes, { authorization: `Bearer ${wrong}` })).toEqual(unknown);
  expect(await callRoutes(accountRoutes, { cookie: cookie(wrong) })).toEqual(unknown);
  expect(await callRoutes(accountRoutes, { authorization: `Bearer ${ada.apiKey}` })).toEqual(unknown);
  // The header goes before the cookie, so a good cookie does not mend a bad one.
  expect(
    await callRoutes(accountRoutes, { authorization: `Bearer ${wrong}`, cookie: cookie(ada.token) }),
  ).toEqual(unknown);
  const verify = routes.filter((route) => nameOf(route) === VERIFY);
  for (const headers of [{ authorization: `Bearer ${ada.token}` }, { cookie: cookie(ada.token) }]) {
    expect(await callRoutes(verify, headers)).toEqual({ [VERIFY]: '401 api_key_required' });
  }
});

test('another site’s page can’t use the cookie, our own can', async () => {
  const ada = await signUp();
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://latchkey.test' },
    { origin: 'https://shop.latchkey.test', 'sec-fetch-site': 'same-site' },
    { origin: 'https://latchkey.test.evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of foreign) {
    expect(await callRoutes(accountRoutes, { cookie: cookie(ada.token), ...headers })).toEqual(
      sameOutcome(accountRoutes, '403 origin_not_allowed'),
    );
  }
  for (const headers of [
    { origin: ORIGIN },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]) {
    const { status } = await call('GET', '/api/account', {
      headers: { cookie: cookie(ada.token), ...headers },
    });
    expect(status).toBe(200);
  }
});

test('what is another account’s does not exist', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  const license = await ada.createLicense({ product: 'Orrery' });
  const { webhook, ids: hook } = await addWebhook(ada);
  const ids: Record<string, string> = { licenses: license.id, 'api-keys': ada.apiKeyId, ...hook };
  expect(Object.keys(ids)).toEqual(expect.arrayContaining(routesWithId.flatMap(kindsIn)));

  for (const headers of [{ authorization: `Bearer ${bob.token}` }, { 'x-api-key': bob.apiKey }]) {
    const refusals = Object.values(await callRoutes(routesWithId, headers, ids));
    expect(new Set(refusals)).toEqual(
      new Set(['404 api_key_not_found', '404 license_not_found', '404 webhook_not_found']),
    );
  }
  const untouched = await ada.asKey('GET', `/api/v1/licenses/${license.id}`);
  expect(untouched.body).toEqual(license);
  expect((await bob.verify(license.license_key)).body.status).toBe('not_found');
  expect((await bob.asSession('GET', '/api/v1/licenses')).body.data).toEqual([]);
  expect((await ada.asSession('GET', `/api/webhooks/${webhook.id}`)).body).toEqual(webhook);
  expect((await bob.asSession('GET', '/api/webhooks')).body.data).toEqual([]);
  // A delivery is its webhook's alone, and another's does not open it.
  const { ids: bobs } = await addWebhook(bob);
  const crossed = `/api/webhooks/${bobs.webhooks}/deliveries/${hook.deliveries}/resend`;
  expect((await bob.asSession('POST', crossed)).body.error.code).toBe('not_found');
});

test('only verify is open to other origins, and only without credentials', async () => {
  const ada = await signUp();
  for (const { path, method } of routes) {
    const preflight = await call('OPTIONS', path.replace(/:[a-z_]+/g, 'x'), {
      headers: { origin: 'https://app.example', 'access-control-request-method': method },
    });
    expectSecurityHeaders(path, preflight);
    expect([path, preflight.status]).toEqual([path, path === '/api/v1/licenses/verify' ? 204 : 405]);
  }
  const origin = 'https://app.example';
  const preflight = await call('OPTIONS', '/api/v1/licenses/verify', { headers: { origin } });
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(',');
  expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x-api-key']));
  expect(preflight.headers.get('access-control-allow-methods')).toBe('POST');

  const verdict = await ada.asKey('POST', '/api/v1/licenses/verify', { license_key: 'AAAAAAAA' }, { origin });
  expectSecurityHeaders('/api/v1/licenses/verify', verdict);
  const exposed = verdict.headers.get('access-control-expose-headers') ?? '';
  for (const name of ['RateLimit', 'RateLimit-Policy', 'Retry-After']) expect(exposed).toContain(name);
});
