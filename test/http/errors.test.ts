import { exports } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { ERRORS } from '../../src/http/errors.ts';
import type { ErrorCode } from '../../src/shared/app-error.ts';
import { type Answer, call, freshAddress, ORIGIN, register, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

// CONTRACT's table of errors, row by row. `faults.test.ts` has 500 and 503.

const seen = new Set<ErrorCode>();

/** The one shape of an error; the message only where CONTRACT words it. */
const expectError = (answer: Answer, status: number, code: ErrorCode, message?: string) => {
  seen.add(code);
  const { details, ...error } = answer.body.error;
  expect({ status: answer.status, ...error }).toEqual({
    status,
    code,
    message: message ?? ERRORS[code].message,
    request_id: answer.headers.get('x-request-id'),
  });
  expect(Object.keys(answer.body)).toEqual(['error']);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  const fault = { path: expect.any(String), message: expect.any(String) };
  if (code === 'invalid_request') expect(details).toEqual(expect.arrayContaining([fault]));
  else expect(details).toBeUndefined();
};

const paths = (answer: Answer): string[] =>
  answer.body.error.details.map((detail: { path: string }) => detail.path);

test('400: a body that does not parse or does not fit says where it is at fault', async () => {
  const ada = await signUp();
  for (const broken of ['{"license_key":', 'nonsense', '{"a":1}}', "{'a':1}"]) {
    const answer = await ada.asKey('POST', '/api/v1/licenses/verify', broken);
    expectError(answer, 400, 'invalid_json', 'Malformed JSON');
    expect(answer.headers.get('ratelimit')).toMatch(/^"key";r=/);
  }
  for (const unfit of ['[]', 'null', '"text"', '7', '{}', '{"license_key":7}', '{"license_key":""}']) {
    const answer = await ada.asKey('POST', '/api/v1/licenses/verify', unfit);
    expectError(answer, 400, 'invalid_request', 'Invalid Request');
  }
  const twice = await ada.asSession('POST', '/api/v1/licenses/create', { product: 7, metadata: { a: null } });
  expectError(twice, 400, 'invalid_request');
  expect(paths(twice)).toEqual(['product', 'metadata.a']);
  for (const bad of ['limit=0', 'limit=101', 'limit=many', 'limit=1.5', 'cursor=nonsense', 'status=lost']) {
    const answer = await ada.asSession('GET', `/api/v1/licenses?${bad}`);
    expectError(answer, 400, 'invalid_request');
    expect(paths(answer)).toEqual([bad.slice(0, bad.indexOf('='))]);
  }
  const { id } = await ada.createLicense();
  for (const bad of ['limit=0', 'limit=101', 'cursor=nonsense', 'cursor=0', `cursor=${id}`]) {
    const answer = await ada.asSession('GET', `/api/v1/licenses/${id}/history?${bad}`);
    expectError(answer, 400, 'invalid_request');
    expect(paths(answer)).toEqual([bad.slice(0, bad.indexOf('='))]);
  }
  const badHeader = await ada.asSession('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'a b' });
  expectError(badHeader, 400, 'invalid_request');
});

test('401 and 403: who may not call hears why', async () => {
  const ada = await signUp();
  expectError(await call('GET', '/api/account'), 401, 'api_key_required', 'API Key Required');
  const nobody = { authorization: 'Bearer nobody' };
  expectError(await call('GET', '/api/account', { headers: nobody }), 401, 'invalid_session');
  const wrong = { email: ada.email, password: 'wrong horse battery' };
  expectError(await call('POST', '/api/login', { body: wrong }), 401, 'invalid_credentials');

  const badKey = { 'x-api-key': 'nonsense' };
  const refused = await call('GET', '/api/account', { headers: badKey });
  expectError(refused, 403, 'api_key_invalid', 'Invalid API Key');
  const { body: shipped } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const narrow = { 'x-api-key': shipped.api_key };
  expectError(await call('GET', '/api/account', { headers: narrow }), 403, 'insufficient_scope');
  const foreign = { cookie: `__Host-session=${ada.token}`, origin: 'https://evil.example' };
  expectError(await call('GET', '/api/account', { headers: foreign }), 403, 'origin_not_allowed');
  expect((await ada.asKey('GET', '/api/account')).status).toBe(200);
});

test('404 and 405: what is not there, and what is called the wrong way', async () => {
  const ada = await signUp();
  expectError(
    await ada.asSession('GET', '/api/api-keys/key_none'),
    404,
    'api_key_not_found',
    'API Key Not Found',
  );
  expectError(await ada.asSession('GET', '/api/v1/licenses/lic_none'), 404, 'license_not_found');
  const noWebhook = await ada.asSession('POST', '/api/webhooks/whe_none/test');
  expectError(noWebhook, 404, 'webhook_not_found', 'Webhook Not Found');
  for (const path of ['/', '/api', '/api/nothing', '/api/v1/licenses/a/b/c', '/api/account/', '/health/x']) {
    const { headers, status, body } = await ada.asKey('GET', path);
    expect([path, status, body.error.code]).toEqual([path, 404, 'not_found']);
    expect(body.error.request_id).toBe(headers.get('x-request-id'));
  }
  expectError(await call('POST', '/api/nothing', { body: '{' }), 404, 'not_found');

  const known = {
    'DELETE /health': 'GET',
    'GET /api/register': 'POST',
    'PUT /api/account': 'GET, PATCH',
    'GET /api/init-payment': 'POST',
    'POST /api/billing': 'GET',
    'POST /api/api-keys/key_none': 'DELETE, GET',
    'POST /api/v1/licenses': 'GET',
    'PUT /api/v1/licenses/lic_none': 'GET, PATCH',
    'GET /api/v1/licenses/verify': 'POST',
    'PATCH /api/v1/licenses/create': 'POST',
    'DELETE /api/v1/licenses/verify': 'POST',
    'GET /api/v1/licenses/lic_none/revoke': 'POST',
    'POST /api/v1/licenses/lic_none/history': 'GET',
    'PUT /api/webhooks': 'GET, POST',
    'POST /api/webhooks/whe_none': 'DELETE, GET, PATCH',
    'GET /api/webhooks/whe_none/rotate-secret': 'POST',
    'DELETE /api/webhooks/whe_none/deliveries': 'GET',
    'GET /api/webhooks/whe_none/deliveries/dlv_none/resend': 'POST',
  };
  for (const [request, allow] of Object.entries(known)) {
    const [method = '', path = ''] = request.split(' ');
    const answer = await ada.asSession(method, path);
    expect([request, answer.status, answer.headers.get('allow')]).toEqual([request, 405, allow]);
    expectError(answer, 405, 'method_not_allowed', 'Method Not Allowed');
  }
});

test('409: what clashes with what is there already', async () => {
  const ada = await signUp();
  const again = { email: ada.email.toUpperCase(), password: 'another horse battery' };
  expectError(await call('POST', '/api/register', { body: again }), 409, 'email_taken');

  const license = await ada.createLicense({ license_key: 'MY-OWN-KEY-1' });
  const taken = await ada.asKey('POST', '/api/v1/licenses/create', { license_key: 'MY-OWN-KEY-1' });
  expectError(taken, 409, 'license_key_taken');
  const reinstated = await ada.asSession('POST', `/api/v1/licenses/${license.id}/reinstate`);
  expectError(reinstated, 409, 'invalid_transition', 'Can’t reinstate a license that is active.');
  const create = (product: string) =>
    ada.asSession('POST', '/api/v1/licenses/create', { product }, { 'idempotency-key': 'order-7' });
  expect((await create('Orrery')).status).toBe(201);
  expectError(await create('Astrolabe'), 409, 'idempotency_conflict');
  const nothing = await ada.asSession('POST', '/api/cancel-subscription', {});
  expectError(nothing, 409, 'no_active_subscription', 'No Active Subscription');
});

const bodyOf = (bytes: number) => `{"product":"P"}${' '.repeat(bytes - 15)}`;

const chunked = (chunks: number, chunkBytes: number) => {
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ < chunks) controller.enqueue(new Uint8Array(chunkBytes).fill(0x20));
      else controller.close();
    },
  });
};

test('413 and 415: a body over 64 KiB, said or streamed, and one that is not JSON', async () => {
  const ada = await register();
  const own = { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' };
  const create = '/api/v1/licenses/create';
  expect((await ada.asSession('POST', create, bodyOf(65_536))).status).toBe(201);
  expectError(await ada.asSession('POST', create, bodyOf(65_537)), 413, 'body_too_large');
  expect((await call('POST', '/api/login', { body: bodyOf(65_537) })).status).toBe(413);

  const stream = async (chunks: number) => {
    const init = { method: 'POST', headers: own, body: chunked(chunks, 4_096) };
    const request = new Request(ORIGIN + create, init);
    expect(request.headers.get('content-length')).toBeNull();
    const response = await exports.default.fetch(request);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  expectError(await stream(17), 413, 'body_too_large');
  expectError(await stream(16), 400, 'invalid_json');

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    const answer = await ada.asSession('POST', create, '{"product":"P"}', { 'content-type': type });
    expectError(answer, 415, 'unsupported_media_type');
  }
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/problem+json']) {
    const answer = await ada.asSession('POST', create, '{"product":"P"}', { 'content-type': type });
    expect([answer.status, answer.body.product]).toEqual([201, 'P']);
  }
});

test('429: a key that is too fast waits a second, whatever it calls', async () => {
  useFakeClock();
  const ada = await signUp();
  const rested = await ada.asKey('GET', '/api/account');
  expect(rested.headers.get('ratelimit-policy')).toBe('"key";q=20;w=2');
  expect(rested.headers.get('ratelimit')).toBe('"key";r=19;t=1');
  for (let i = 0; i < 19; i++) expect((await ada.verify('AAAAAAAA')).status).toBe(200);

  for (const refused of [await ada.verify('AAAAAAAA'), await ada.asKey('GET', '/api/account')]) {
    expectError(refused, 429, 'rate_limit_exceeded', 'Rate Limit Exceeded');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"key";r=0;t=2');
    expect(refused.headers.get('ratelimit-policy')).toBe('"key";q=20;w=2');
  }
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  vi.advanceTimersByTime(1_000);
  expect((await ada.verify('AAAAAAAA')).body.api_usage).toBe(20);
});

test('429: the thousandth call of the month is answered, the next one waits for the next month', async () => {
  useFakeClock('2027-01-30T12:00:00.000Z');
  const ada = await signUp();
  for (let calls = 0; calls < 1_000; calls += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ada.verify('AAAAAAAA')));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    vi.advanceTimersByTime(2_000);
  }
  const refused = await ada.asKey('POST', '/api/v1/licenses/create', {});
  expectError(refused, 429, 'usage_limit_exceeded', 'API Usage Limit Exceeded');
  const secondsLeft = (Date.parse('2027-02-01T00:00:00.000Z') - Date.now()) / 1_000;
  expect(refused.headers.get('retry-after')).toBe(String(secondsLeft));
  const verify = await ada.verify('AAAAAAAA');
  expect([verify.status, verify.body.error.code]).toEqual([429, 'usage_limit_exceeded']);
  expect(verify.headers.get('retry-after')).toBe(String(secondsLeft));
  expect(verify.headers.get('ratelimit')).toMatch(/^"key";r=/);
  // Calls that count nothing go on, and so does everything in the new month.
  expect((await ada.asKey('GET', '/api/v1/licenses')).body.data).toEqual([]);
  vi.setSystemTime('2027-02-01T00:00:00.000Z');
  expect((await ada.verify('AAAAAAAA')).body).toMatchObject({ api_usage: 1, api_limit: 1_000 });
});

test('429: too many logins wait, before the password is looked at', async () => {
  const ip = freshAddress();
  const login = () =>
    call('POST', '/api/login', {
      body: { email: 'nobody@example.com', password: 'wrong horse battery' },
      headers: { 'cf-connecting-ip': ip },
    });
  const answers = await Promise.all(Array.from({ length: 11 }, login));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(1);
  for (const answer of refused) {
    expectError(answer, 429, 'rate_limit_exceeded', 'Rate Limit Exceeded');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(890);
  }
});

test('every code of the table has been met', () => {
  const unexpected: ErrorCode[] = ['internal_error', 'unavailable'];
  expect(new Set([...seen, ...unexpected])).toEqual(new Set(Object.keys(ERRORS)));
});
