import { env, exports } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import { openApiDocument } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import { ERRORS } from '../../src/http/errors.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { call, ORIGIN, signUp } from '../support/client.ts';
import {
  expectDocumented,
  misfits,
  openApi,
  operationAt,
  OPERATIONS,
  undocumented,
} from '../support/openapi.ts';
import { tamper } from '../support/gate.ts';
import { CALLS } from './calls.ts';
import { place, setStage, type Stage } from './stage.ts';

const ERROR = { $ref: '#/components/schemas/Error' };
const isKeyed = (security: Record<string, string[]>[]) => security.some((scheme) => 'apiKey' in scheme);

const codesAt = (responses: (typeof OPERATIONS)[number]['operation']['responses'], status: number) =>
  Object.keys(responses[status]?.content['application/json']?.examples ?? {});

test('the document describes every mounted route and nothing else', () => {
  const mounted = app.routes
    .filter(({ method, path }) => method !== 'ALL' && !/^\/(openapi\.json|docs|checkout)/.test(path))
    .map(({ method, path }) => `${method} ${path.replace(/:([a-z_]+)/g, '{$1}')}`);
  const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(described.toSorted()).toEqual([...new Set(mounted)].toSorted());
  expect(described.length).toBeGreaterThan(15);
});

test('every operation has an id of its own', () => {
  const ids = OPERATIONS.map(({ operation }) => operation.operationId);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every parameter in a path is described', () => {
  for (const { path, operation } of OPERATIONS) {
    const described = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(described.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{[^}]+\}/g) ?? []);
  }
});

test.for(OPERATIONS)('$method $path names its headers and how it fails', ({ operation }) => {
  const { responses, security, requestBody } = operation;
  const statuses = Object.keys(responses).map(Number);
  expect(statuses.some((status) => status < 300)).toBe(true);
  expect(codesAt(responses, 500)).toEqual(['internal_error']);
  expect(statuses).toContain(503);
  const shown = statuses.flatMap((status) => codesAt(responses, status));
  const implied = [
    ...(isKeyed(security) ? ['api_key_required', 'api_key_invalid', 'rate_limit_exceeded'] : []),
    ...(requestBody ? ['invalid_json', 'invalid_request', 'body_too_large', 'unsupported_media_type'] : []),
  ];
  expect(implied.filter((code) => !shown.includes(code))).toEqual([]);
  for (const status of statuses) {
    const names = Object.keys(responses[status]?.headers ?? {});
    expect(names).toContain('X-Request-Id');
    expect(names.includes('Retry-After')).toBe(status === 429);
    expect(names.includes('RateLimit')).toBe(isKeyed(security) && status !== 401);
    expect(names.includes('RateLimit-Policy')).toBe(names.includes('RateLimit'));
    for (const code of codesAt(responses, status)) {
      expect(ERRORS[code as keyof typeof ERRORS].status).toBe(status);
    }
  }
});

test('every error code appears with an operation, or in the overview if no operation gives it', () => {
  const shown = OPERATIONS.flatMap(({ operation: { responses } }) =>
    Object.keys(responses).flatMap((status) => codesAt(responses, Number(status))),
  );
  const missing = Object.keys(ERRORS).filter((code) => !shown.includes(code));
  expect(missing).toEqual(['method_not_allowed']);
  for (const code of ['not_found', ...missing]) expect(openApi.info.description).toContain(`\`${code}\``);
});

let stage: Stage;

beforeAll(async () => {
  stage = await setStage();
});

/** The stage's own keys keep their pace: a call that came too soon waits and asks again. */
const placeInTime = async (...[stage, made]: Parameters<typeof place>) => {
  for (;;) {
    const placed = await place(stage, made);
    if (placed.answer.body?.error?.code !== 'rate_limit_exceeded') return placed;
    await scheduler.wait(Number(placed.answer.headers.get('retry-after')) * 1_000);
  }
};

test.for(CALLS)('$method $path is answered $status as documented when $when', async (made) => {
  const { path, body, answer } = await placeInTime(stage, made);
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({
    status: made.status,
    code: made.code,
  });
  expectDocumented(made.method, path, answer);
  const { security, requestBody } = operationAt(made.method, path).operation;
  const byGoodKey = made.as === 'key' || made.as === 'verify-only key';
  expect(answer.headers.has('RateLimit')).toBe(byGoodKey && isKeyed(security));
  const schema = requestBody?.content['application/json']?.schema;
  // What a provider tells us is the provider's to describe.
  const isOurs = !path.startsWith('/api/billing/');
  const acceptedBody = answer.status < 300 && isOurs ? body : undefined;
  const wrong = acceptedBody === undefined ? [] : misfits(schema ?? { not: {} }, JSON.parse(acceptedBody));
  expect(wrong).toEqual([]);
});

test('every operation was driven to success and, unless it takes nothing, to an error', () => {
  const driven = CALLS.map(({ method, path, status }) => ({
    ...operationAt(method, path),
    good: status < 300,
  }));
  const lacks = (good: boolean) =>
    OPERATIONS.map(({ operation }) => operation.operationId).filter(
      (id) => !driven.some((one) => one.good === good && one.operation.operationId === id),
    );
  expect({ success: lacks(true), error: lacks(false) }).toEqual({
    // Driven in test/billing: here Stripe is not set up.
    success: ['stripeNotification'],
    error: ['getHealth'],
  });
});

test('a key that calls too fast is answered as documented', async () => {
  const { asKey } = await signUp();
  for (const [method, path, body] of [
    ['GET', '/api/account', undefined],
    ['POST', '/api/v1/licenses/verify', { license_key: 'NOBODYS-KEY' }],
  ] as const) {
    const seen = new Set([200]);
    // A slow machine may leave the key time to rest.
    while (!seen.has(429)) {
      const burst = Array.from({ length: 40 }, () => asKey(method, path, body));
      for (const answer of await Promise.all(burst)) {
        seen.add(answer.status);
        expectDocumented(method, path, answer);
      }
    }
    expect(seen.size).toBe(2);
  }
});

test('an address that registers or signs in too often is answered as documented', async () => {
  const body = { email: stage.ada.email, password: 'x'.repeat(10) };
  const attempt = (path: string) =>
    call('POST', path, { body, headers: { 'cf-connecting-ip': '192.0.2.60' } });
  const paths = ['/api/register', '/api/login'];
  for (const path of paths) await attempt(path);
  await env.DB.exec('UPDATE throttles SET attempts = 1000');
  for (const path of paths) {
    const answer = await attempt(path);
    expect(answer.body.error.code).toBe('rate_limit_exceeded');
    expectDocumented('POST', path, answer);
  }
  await env.DB.exec('DELETE FROM throttles');
});

test('an account past its limit is answered as documented', async () => {
  const { accountId, asKey, verify } = await signUp();
  await verify('NOBODYS-KEY');
  await tamper(accountId, "UPDATE counters SET value = 1000 WHERE name LIKE 'period:%'");
  for (const [path, answer] of [
    ['/api/v1/licenses/verify', await verify('NOBODYS-KEY')],
    ['/api/v1/licenses/create', await asKey('POST', '/api/v1/licenses/create', {})],
  ] as const) {
    expect(answer.body.error.code).toBe('usage_limit_exceeded');
    expectDocumented('POST', path, answer);
  }
});

test('what no operation answers is an error of the documented shape all the same', async () => {
  for (const [method, path, status] of [
    ['GET', '/nothing', 404],
    ['POST', '/api/v1/licenses/a/b/c', 404],
    ['DELETE', '/api/login', 405],
    ['GET', '/docs/nothing.js', 404],
  ] as const) {
    const answer = await call(method, path);
    expect(answer.status).toBe(status);
    expect(misfits(ERROR, answer.body)).toEqual([]);
    expect(answer.headers.get('x-request-id')).toBe(answer.body.error.request_id);
  }
});

test('what is answered to a create is what was stored, also of text that UTF-8 has no words for', async () => {
  const sent = { product: 'a\ud800b', customer_name: '\udc00', metadata: { 'k\ud800': 'v\udfff' } };
  const made = await stage.ada.asSession('POST', '/api/v1/licenses/create', sent);
  expect(made.body.product).toBe('a\ufffdb');
  const stored = await stage.ada.asSession('GET', `/api/v1/licenses/${made.body.id}`);
  expect(stored.body).toEqual(made.body);
});

test('an answer that the document does not promise is noticed', async () => {
  const good = await stage.ada.asSession('GET', '/api/account');
  const seen = (changed: Partial<typeof good>) =>
    undocumented('GET', '/api/account', { ...good, ...changed });
  expect(seen({})).toEqual([]);
  expect(seen({ status: 201 })).toEqual(['status 201 is not documented']);
  expect(seen({ body: { ...good.body, secret: 'x' } })).not.toEqual([]);
  expect(seen({ body: { ...good.body, created_at: 'now' } })).not.toEqual([]);
  expect(seen({ headers: new Headers({ 'content-type': 'application/json' }) })).toEqual([
    'header X-Request-Id is missing',
  ]);
  const { body } = await call('GET', '/nothing');
  expect(seen({ status: 403, body })).toEqual(['error not_found is not documented']);
});

test('the document that is served is the one that the routes give', async () => {
  const served = await call('GET', '/openapi.json');
  expect(served.status).toBe(200);
  expect(served.body).toEqual(structuredClone(openApiDocument(app, packageJson.version)));
});

test('the documentation’s page and what it loads are served', async () => {
  const page = await exports.default.fetch(new Request(`${ORIGIN}/docs`));
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toContain('text/html');
  const html = await page.text();
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, path = '']) => new URL(path, `${ORIGIN}/docs`),
  );
  expect(loaded.length).toBeGreaterThan(1);
  for (const url of loaded) {
    const file = await exports.default.fetch(new Request(url));
    expect(file.status).toBe(200);
    await file.body?.cancel();
  }
});
