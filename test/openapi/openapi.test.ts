import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import { ERRORS } from '../../src/http/errors.ts';
import { openApi, OPERATIONS } from '../support/openapi.ts';

const [portalDocs = ''] = Object.values(
  import.meta.glob<string>('../../docs/portal.md', { query: '?raw', import: 'default', eager: true }),
);

const isKeyed = (security: Record<string, string[]>[]) => security.some((scheme) => 'apiKey' in scheme);

const codesAt = (responses: (typeof OPERATIONS)[number]['operation']['responses'], status: number) =>
  Object.keys(responses[status]?.content['application/json']?.examples ?? {});

test('the OpenAPI document describes every mounted route and nothing else', () => {
  const mounted = app.routes
    .filter(
      ({ method, path }) =>
        method !== 'ALL' && !/^\/(openapi\.json|docs|checkout|hooks|operator|portal)/.test(path),
    )
    .map(({ method, path }) => `${method} ${path.replace(/:([a-z_]+)/g, '{$1}')}`);
  const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(described.toSorted()).toEqual([...new Set(mounted)].toSorted());
  expect(described.length).toBeGreaterThan(15);
});

test('docs/portal.md has every call of the portal, which the OpenAPI document doesn’t have', () => {
  const mounted = app.routes
    .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/portal-api/:slug'))
    .map(({ method, path }) => `${method} ${path.slice('/portal-api/:slug'.length)}`.trim())
    .map((route) =>
      route
        .replace(/\/$/, '')
        .trim()
        .replace(/:([a-z_]+)/g, '{$1}'),
    );
  const section = portalDocs.split(/^## /m).find((text) => text.startsWith('The calls of the page')) ?? '';
  const rows = [...section.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell);
  const described = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, route = '']) => route));
  expect(described.toSorted()).toEqual([...new Set(mounted)].toSorted());
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
    'invalid_request',
    ...(isKeyed(security) ? ['api_key_required', 'api_key_invalid', 'rate_limit_exceeded'] : []),
    ...(requestBody ? ['body_too_large', 'unsupported_media_type'] : []),
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
  expect(missing).toEqual([
    'invalid_signature',
    'portal_session_required',
    'https_required',
    'method_not_allowed',
  ]);
  for (const code of ['not_found', ...missing]) expect(openApi.info.description).toContain(`\`${code}\``);
});
