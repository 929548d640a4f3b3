import { beforeAll, expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import { ERRORS } from '../../src/http/errors.ts';
import { call, signUp } from '../support/client.ts';
import { expectDocumented, schemaErrors, openApi, operationAt, OPERATIONS } from '../support/openapi.ts';
import { setUsage } from '../support/gate.ts';
import { CALLS } from './calls.ts';
import { createFixtures, type Fixtures, sendWithinRateLimit } from './fixtures.ts';
import { firstD1 } from '../support/databases.ts';

const isKeyed = (security: Record<string, string[]>[]) => security.some((scheme) => 'apiKey' in scheme);

const codesAt = (responses: (typeof OPERATIONS)[number]['operation']['responses'], status: number) =>
  Object.keys(responses[status]?.content['application/json']?.examples ?? {});

test('the OpenAPI document describes every mounted route and nothing else', () => {
  const mounted = app.routes
    .filter(({ method, path }) => method !== 'ALL' && !/^\/(openapi\.json|docs|checkout|operator)/.test(path))
    .map(({ method, path }) => `${method} ${path.replace(/:([a-z_]+)/g, '{$1}')}`);
  const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(described.toSorted()).toEqual([...new Set(mounted)].toSorted());
  expect(described.length).toBeGreaterThan(15);
});

test('every operation has a unique operationId', () => {
  const ids = OPERATIONS.map(({ operation }) => operation.operationId);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

const OPERATION_ROWS = OPERATIONS.map(
  (documented) => [`${documented.method} ${documented.path}`, documented] as const,
);

test.for(OPERATION_ROWS)('%s documents its path parameters', ([, { path, operation }]) => {
  const described = operation.parameters.filter((parameter) => parameter.in === 'path');
  expect(described.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{[^}]+\}/g) ?? []);
});

test.for(OPERATION_ROWS)('%s documents its headers and error codes', ([, { operation }]) => {
  const { responses, security, requestBody } = operation;
  const statuses = Object.keys(responses).map(Number);
  expect(statuses.some((status) => status < 300)).toBe(true);
  expect(codesAt(responses, 500)).toEqual(['internal_error']);
  expect(statuses).toContain(503);
  const shown = statuses.flatMap((status) => codesAt(responses, status));
  const isApplicationCall = isKeyed(security) && security.length === 1;
  const implied = [
    ...(isKeyed(security) ? ['api_key_required', 'api_key_invalid', 'rate_limit_exceeded'] : []),
    ...(requestBody ? ['invalid_request', 'body_too_large', 'unsupported_media_type'] : []),
    ...(requestBody?.content['application/json'] ? ['invalid_json'] : []),
  ];
  expect(implied.filter((code) => !shown.includes(code))).toEqual([]);
  for (const status of statuses) {
    const names = Object.keys(responses[status]?.headers ?? {});
    expect(names).toContain('X-Request-Id');
    expect(names.includes('Retry-After')).toBe(status === 429);
    const isRefusedAtFirst = status === 401 && !codesAt(responses, 401).includes('invalid_credentials');
    expect(names.includes('RateLimit')).toBe(isKeyed(security) && !isRefusedAtFirst);
    const isFromGate = [200, 403, 429].includes(status);
    expect(names.includes('Latchkey-Region')).toBe(isApplicationCall && isFromGate);
    expect(names.includes('RateLimit-Policy')).toBe(names.includes('RateLimit'));
    for (const code of codesAt(responses, status)) {
      expect(ERRORS[code as keyof typeof ERRORS].status).toBe(status);
    }
  }
});

test('every error code is documented by an operation or, for codes without an operation, in the overview', () => {
  const shown = OPERATIONS.flatMap(({ operation: { responses } }) =>
    Object.keys(responses).flatMap((status) => codesAt(responses, Number(status))),
  );
  const missing = Object.keys(ERRORS).filter((code) => !shown.includes(code));
  expect(missing).toEqual(['https_required', 'method_not_allowed']);
  for (const code of ['not_found', ...missing]) expect(openApi.info.description).toContain(`\`${code}\``);
});

let fixtures: Fixtures;

beforeAll(async () => {
  fixtures = await createFixtures();
});

const CALL_ROWS = CALLS.map(
  (sent) => [`${sent.method} ${sent.path} answers ${sent.status} when ${sent.when}`, sent] as const,
);

test.for(CALL_ROWS)('%s, as documented', async ([, sent]) => {
  const { path, body, answer } = await sendWithinRateLimit(fixtures, sent);
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({
    status: sent.status,
    code: sent.code,
  });
  expectDocumented(sent.method, path, answer);
  const { security, requestBody } = operationAt(sent.method, path).operation;
  const hasValidKey = sent.as === 'key' || sent.as === 'verify-only key';
  const hasValidSession = sent.as === 'session' && security.some((scheme) => 'session' in scheme);
  expect(answer.headers.has('RateLimit')).toBe((hasValidKey && isKeyed(security)) || hasValidSession);
  const schema = requestBody?.content['application/json']?.schema;
  // The document doesn't describe the bodies of a provider's notifications.
  const isFile = requestBody !== undefined && schema === undefined;
  const isDescribed = !path.startsWith('/api/billing/') && !isFile;
  const acceptedBody = answer.status < 300 && isDescribed ? body : undefined;
  const wrong =
    acceptedBody === undefined ? [] : schemaErrors(schema ?? { not: {} }, JSON.parse(acceptedBody));
  expect(wrong).toEqual([]);
});

test('the calls cover a success and an error of every operation that has them', () => {
  const covered = CALLS.map(({ method, path, status }) => ({
    id: operationAt(method, path).operation.operationId,
    isSuccess: status < 300,
  }));
  const missing = (isSuccess: boolean) =>
    OPERATIONS.map(({ operation }) => operation.operationId).filter(
      (id) => !covered.some((one) => one.isSuccess === isSuccess && one.id === id),
    );
  expect({ success: missing(true), error: missing(false) }).toEqual({
    // Stripe is not configured here. test/billing has its tests.
    success: ['stripeNotification'],
    error: ['getHealth'],
  });
});

test.for([
  ['GET', '/api/account', undefined],
  ['POST', '/api/v1/licenses/verify', { license_key: 'UNKNOWN-KEY' }],
] as const)('%s %s over the rate limit of a key answers as documented', async ([method, path, body]) => {
  const { asKey } = await signUp();
  const statuses = new Set([200]);
  // On a slow machine a burst can stay within the rate limit.
  while (!statuses.has(429)) {
    const burst = Array.from({ length: 40 }, () => asKey(method, path, body));
    for (const answer of await Promise.all(burst)) {
      statuses.add(answer.status);
      expectDocumented(method, path, answer);
    }
  }
  expect(statuses.size).toBe(2);
});

test.for(['/api/register', '/api/login'])(
  'POST %s answers as documented after too many attempts from one address',
  async (path) => {
    const body = { email: fixtures.ada.email, password: 'x'.repeat(10) };
    const attempt = () => call('POST', path, { body, headers: { 'cf-connecting-ip': '192.0.2.60' } });
    await attempt();
    await firstD1.exec('UPDATE throttles SET attempts = 1000');
    const answer = await attempt();
    expect(answer.body.error.code).toBe('rate_limit_exceeded');
    expectDocumented('POST', path, answer);
    await firstD1.exec('DELETE FROM throttles');
  },
);

test.for([
  ['/api/v1/licenses/verify', { license_key: 'UNKNOWN-KEY' }],
  ['/api/v1/licenses/create', {}],
] as const)('POST %s over the usage limit of the account answers as documented', async ([path, body]) => {
  const { accountId, asKey } = await signUp();
  await setUsage(accountId, 1_000);
  const answer = await asKey('POST', path, body);
  expect(answer.body.error.code).toBe('usage_limit_exceeded');
  expectDocumented('POST', path, answer);
});
