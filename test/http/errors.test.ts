import { beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/http/errors.ts';
import type { ErrorCode } from '../../src/shared/app-error.ts';
import { openShop } from '../stores/shop.ts';
import { type Answer, call, type Customer, signUp } from '../support/client.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { expectError, seenCodes } from './expect-error.ts';

const detailPaths = (answer: Answer): string[] =>
  answer.body.error.details.map((detail: { path: string }) => detail.path);

describe('400', () => {
  const CREATE = '/api/v1/licenses/create';
  let ada: Customer;
  let licenseId: string;

  beforeAll(async () => {
    ({ ada, id: licenseId } = await sellerWithLicense());
  });

  test.for(['{"license_key":', 'nonsense', '{"a":1}}', "{'a':1}"])(
    'answers invalid_json for the body %s and still sends rate-limit headers',
    async (body) => {
      const answer = await ada.asKey('POST', '/api/v1/licenses/verify', body);
      expectError(answer, 400, 'invalid_json', 'Malformed JSON');
      expect(answer.headers.get('ratelimit')).toMatch(/^"key";r=/);
    },
  );

  test.for(['[]', 'null', '"text"', '7', '{}', '{"license_key":7}', '{"license_key":""}'])(
    'answers invalid_request for the body %s',
    async (body) => {
      const answer = await ada.asKey('POST', '/api/v1/licenses/verify', body);
      expectError(answer, 400, 'invalid_request', 'Invalid Request');
    },
  );

  test('names every invalid field of a body', async () => {
    const answer = await ada.asSession('POST', CREATE, { product: 7, metadata: { a: null } });
    expectError(answer, 400, 'invalid_request');
    expect(detailPaths(answer)).toEqual(['product', 'metadata.a']);
  });

  test.for(['limit=0', 'limit=101', 'limit=many', 'limit=1.5', 'cursor=nonsense', 'status=lost'])(
    'names the invalid parameter of the license list in ?%s',
    async (query) => {
      const answer = await ada.asSession('GET', `/api/v1/licenses?${query}`);
      expectError(answer, 400, 'invalid_request');
      expect(detailPaths(answer)).toEqual([query.slice(0, query.indexOf('='))]);
    },
  );

  test.for(['limit=0', 'limit=101', 'cursor=nonsense', 'cursor=0', 'cursor={license id}'])(
    'names the invalid parameter of the license history in ?%s',
    async (query) => {
      const sent = query.replace('{license id}', licenseId);
      const answer = await ada.asSession('GET', `/api/v1/licenses/${licenseId}/history?${sent}`);
      expectError(answer, 400, 'invalid_request');
      expect(detailPaths(answer)).toEqual([query.slice(0, query.indexOf('='))]);
    },
  );

  test('answers invalid_request for an invalid Idempotency-Key', async () => {
    const answer = await ada.asSession('POST', CREATE, {}, { 'idempotency-key': 'a b' });
    expectError(answer, 400, 'invalid_request');
  });
});

test('401 and 403 responses say why the credential is rejected', async () => {
  const ada = await signUp();
  expectError(await call('GET', '/api/account'), 401, 'api_key_required', 'API Key Required');
  const unknownSession = { authorization: 'Bearer unknown' };
  expectError(await call('GET', '/api/account', { headers: unknownSession }), 401, 'invalid_session');
  const wrong = { email: ada.email, password: 'wrong horse battery' };
  expectError(await call('POST', '/api/login', { body: wrong }), 401, 'invalid_credentials');

  const invalidKey = { 'x-api-key': 'nonsense' };
  const refused = await call('GET', '/api/account', { headers: invalidKey });
  expectError(refused, 403, 'api_key_invalid', 'Invalid API Key');
  const { body: verifyKey } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const verifyOnly = { 'x-api-key': verifyKey.api_key };
  expectError(await call('GET', '/api/account', { headers: verifyOnly }), 403, 'insufficient_scope');
  const foreign = { cookie: `__Host-session=${ada.token}`, origin: 'https://evil.example' };
  expectError(await call('GET', '/api/account', { headers: foreign }), 403, 'origin_not_allowed');
  expect((await ada.asKey('GET', '/api/account')).status).toBe(200);
});

describe('404 and 405', () => {
  let ada: Customer;

  beforeAll(async () => {
    ada = await signUp();
  });

  test.for([
    { request: 'GET /api/api-keys/key_none', code: 'api_key_not_found', message: 'API Key Not Found' },
    { request: 'GET /api/v1/licenses/lic_none', code: 'license_not_found', message: undefined },
    { request: 'GET /api/v1/products/none', code: 'product_not_found', message: 'Product Not Found' },
    { request: 'POST /api/webhooks/whe_none/test', code: 'webhook_not_found', message: 'Webhook Not Found' },
  ] as const)('$request answers 404 $code', async ({ request, code, message }) => {
    const [method = '', path = ''] = request.split(' ');
    expectError(await ada.asSession(method, path), 404, code, message);
  });

  test.for(['/nothing', '/api', '/api/nothing', '/api/v1/licenses/a/b/c', '/api/account/x', '/health/x'])(
    'GET %s answers 404 not_found',
    async (path) => {
      const { headers, status, body } = await ada.asKey('GET', path);
      expect([status, body.error.code]).toEqual([404, 'not_found']);
      expect(body.error.request_id).toBe(headers.get('x-request-id'));
    },
  );

  test('an unknown path answers 404 before its body is read', async () => {
    expectError(await call('POST', '/api/nothing', { body: '{' }), 404, 'not_found');
  });

  test.for([
    ['DELETE /health', 'GET'],
    ['POST /', 'GET'],
    ['PUT /licenses', 'GET'],
    ['GET /api/register', 'POST'],
    ['PUT /api/account', 'DELETE, GET, PATCH'],
    ['GET /api/init-payment', 'POST'],
    ['POST /api/billing', 'GET'],
    ['POST /api/api-keys/key_none', 'DELETE, GET'],
    ['POST /api/v1/licenses', 'GET'],
    ['PUT /api/v1/licenses/lic_none', 'DELETE, GET, PATCH'],
    ['GET /api/v1/licenses/verify', 'POST'],
    ['PATCH /api/v1/licenses/create', 'POST'],
    ['GET /api/v1/licenses/import', 'POST'],
    ['DELETE /api/v1/licenses/verify', 'POST'],
    ['GET /api/v1/licenses/lic_none/revoke', 'POST'],
    ['POST /api/v1/licenses/lic_none/history', 'GET'],
    ['PUT /api/webhooks', 'GET, POST'],
    ['POST /api/webhooks/whe_none', 'DELETE, GET, PATCH'],
    ['GET /api/webhooks/whe_none/rotate-secret', 'POST'],
    ['DELETE /api/webhooks/whe_none/deliveries', 'GET'],
    ['GET /api/webhooks/whe_none/deliveries/dlv_none/resend', 'POST'],
  ] as const)('%s answers 405 and allows %s', async ([request, allow]) => {
    const [method = '', path = ''] = request.split(' ');
    const answer = await ada.asSession(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expectError(answer, 405, 'method_not_allowed', 'Method Not Allowed');
  });
});

test('409 responses name the conflict', async () => {
  const ada = await signUp();
  const sameEmail = { email: ada.email.toUpperCase(), password: 'another horse battery' };
  expectError(await call('POST', '/api/register', { body: sameEmail }), 409, 'email_taken');

  const license = await ada.createLicense({ license_key: 'MY-OWN-KEY-1' });
  const taken = await ada.asKey('POST', '/api/v1/licenses/create', { license_key: 'MY-OWN-KEY-1' });
  expectError(taken, 409, 'license_key_taken');
  const reinstated = await ada.asSession('POST', `/api/v1/licenses/${license.id}/reinstate`);
  expectError(reinstated, 409, 'invalid_transition', 'Can’t reinstate a license that is active.');
  const create = (product: string) =>
    ada.asSession('POST', '/api/v1/licenses/create', { product }, { 'idempotency-key': 'order-7' });
  expect((await create('Orrery')).status).toBe(201);
  expectError(await create('Astrolabe'), 409, 'idempotency_conflict');
  const canceled = await ada.asSession('POST', '/api/cancel-subscription', {});
  expectError(canceled, 409, 'no_active_subscription', 'No Active Subscription');
});

test('a store’s notification that nobody has signed gets 401', async () => {
  const { storeId } = await openShop();
  const answer = await call('POST', `/hooks/${storeId}`, { body: {} });
  expectError(answer, 401, 'invalid_signature', 'Missing or Wrong Signature');
});

test('an unknown token of an email gets 400', async () => {
  for (const [path, body] of [
    ['/api/verify-email', { token: 'nonsense' }],
    ['/api/restore-email', { token: 'nonsense' }],
    ['/api/reset-password', { token: `lkt_${'A'.repeat(54)}`, password: 'correct horse battery' }],
  ] as const) {
    expectError(await call('POST', path, { body }), 400, 'invalid_token', 'Invalid or Expired Token');
  }
});

test('every error code has been tested', () => {
  const testedElsewhere: ErrorCode[] = [
    // plain-http, bodies, faults, limit, limits, storage-limit, activations, allowed-ips, two-factor, fresh-proof, etag, too-many-requests.test.ts, operators/accounts, operators/invitations.test.ts, portal
    'registration_closed',
    'portal_session_required',
    'portal_disabled',
    'slug_taken',
    'https_required',
    'license_limit_reached',
    'limit_reached',
    'storage_limit_reached',
    'body_too_large',
    'unsupported_media_type',
    'internal_error',
    'unavailable',
    'account_suspended',
    'ip_not_allowed',
    'precondition_failed',
    'rate_limit_exceeded',
    'usage_limit_exceeded',
    'two_factor_required',
    'reauthentication_required',
    'activation_not_found',
    'no_seat',
    'product_in_use',
  ];
  expect(new Set([...seenCodes, ...testedElsewhere])).toEqual(new Set(Object.keys(ERRORS)));
});
