import { BILLING_CALLS } from './billing-calls.ts';
import { documentedRoutes } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import type { Call, CallerName } from './stage.ts';
import { WEBHOOK_CALLS } from './webhook-calls.ts';

// Calls that drive every operation for real: into success by hand, into what its access and its input
// imply by its own description.

const IN_FULL = {
  customer_email: 'grace@example.com',
  customer_name: 'Grace',
  product: 'Orrery',
  expires_at: '2999-12-31',
  metadata: { seats: 3, beta: true, note: 'x' },
};

const LICENSE = '/api/v1/licenses/{license}';
const NO_LICENSE = '/api/v1/licenses/lic_none';
const REVOKED = '/api/v1/licenses/{revoked}';
const noLicense = { status: 404, code: 'license_not_found' } as const;
const badMove = { status: 409, code: 'invalid_transition' } as const;
const noKey = { status: 404, code: 'api_key_not_found' } as const;
const session = { as: 'session' } as const;
const nobody = { as: 'nobody' } as const;

const CREATE = '/api/v1/licenses/create';
const VERIFY = '/api/v1/licenses/verify';
const ADA = { email: '{email}', password: '{password}' };

const BY_HAND: Call[] = [
  { ...nobody, method: 'GET', path: '/health', when: 'all is well', status: 200 },
  ...[
    {
      when: 'somebody new comes',
      body: { email: 'grace@new.example', password: '0123456789', name: 'G' },
      status: 201,
    },
    { when: 'the e-mail is taken', body: ADA, status: 409, code: 'email_taken' as const },
  ].map((row) => ({ ...nobody, method: 'POST', path: '/api/register', ...row })),
  ...[
    { when: 'the password is right', body: ADA, status: 200 },
    {
      when: 'it is wrong',
      body: { ...ADA, password: '' },
      status: 401,
      code: 'invalid_credentials' as const,
    },
  ].map((row) => ({ ...nobody, method: 'POST', path: '/api/login', ...row })),
  { as: 'key', method: 'POST', path: '/api/logout', when: 'an API key asks', status: 200 },
  ...[
    '/api/account',
    '/api/dashboard',
    '/api/developer-progress',
    '/api/onboarding',
    '/api/api-keys',
  ].flatMap((path) =>
    (['session', 'key'] as const).map((as): Call => ({
      as,
      method: 'GET',
      path,
      when: `a ${as} asks`,
      status: 200,
    })),
  ),
  { ...session, method: 'GET', path: '/api/api-keys?limit=1', when: 'more pages follow', status: 200 },
  { ...session, method: 'POST', path: '/api/create-api-key', when: 'no body is sent', status: 201 },
  {
    ...session,
    method: 'POST',
    path: '/api/create-api-key',
    when: 'its end is in the year 10000, UTC',
    body: { expires_at: '9999-12-31T23:59:59-01:00' },
    status: 400,
    code: 'invalid_request',
  },
  {
    ...session,
    method: 'POST',
    path: '/api/create-api-key',
    when: 'the body names everything',
    body: { name: 'CI', scope: 'verify', expires_at: '2999-01-01T00:00:00+02:00' },
    status: 201,
  },
  { ...session, method: 'GET', path: '/api/api-keys/{key}', when: 'it is there', status: 200 },
  { ...session, method: 'GET', path: '/api/api-keys/key_none', when: 'it is not', ...noKey },
  { ...session, method: 'DELETE', path: '/api/api-keys/{doomed key}', when: 'it is there', status: 200 },
  { ...session, method: 'DELETE', path: '/api/api-keys/{doomed key}', when: 'it was', ...noKey },
  ...(
    [
      ['key', 'active', 'TAKEN-KEY'],
      ['verify-only key', 'unknown', 'NOBODYS-KEY'],
    ] as const
  ).map(([as, state, license_key]): Call => ({
    as,
    method: 'POST',
    path: VERIFY,
    when: `the license is ${state}`,
    body: { license_key },
    status: 200,
  })),
  ...[
    { when: 'no body is sent', status: 201 },
    { when: 'the body names everything', body: { ...IN_FULL, license_key: 'MY-OWN-KEY' }, status: 201 },
    {
      when: 'days are given',
      body: { duration_days: 30 },
      headers: { 'idempotency-key': 'fresh' },
      status: 201,
    },
    {
      when: 'the key exists',
      body: { license_key: 'TAKEN-KEY' },
      status: 409,
      code: 'license_key_taken' as const,
    },
    {
      when: 'the Idempotency-Key had another body',
      body: { product: 'Other' },
      headers: { 'idempotency-key': 'taken' },
      status: 409,
      code: 'idempotency_conflict' as const,
    },
    {
      when: 'the content type only looks like JSON',
      body: {},
      headers: { 'content-type': 'application/a+b+json' },
      status: 415,
      code: 'unsupported_media_type' as const,
    },
    {
      when: 'the Idempotency-Key is none',
      headers: { 'idempotency-key': 'a b' },
      status: 400,
      code: 'invalid_request' as const,
    },
  ].map((row) => ({ ...session, method: 'POST', path: CREATE, ...row })),
  { as: 'key', method: 'POST', path: CREATE, when: 'an API key asks', body: {}, status: 201 },
  ...['', '?limit=2', '?status=expired', '?status=revoked', '?q=orrery', '?q=o&status=active'].map(
    (query): Call => ({
      ...session,
      method: 'GET',
      path: `/api/v1/licenses${query}`,
      when: 'there are licenses',
      status: 200,
    }),
  ),
  { ...session, method: 'GET', path: LICENSE, when: 'it is there', status: 200 },
  { ...session, method: 'GET', path: NO_LICENSE, when: 'it is not', ...noLicense },
  ...[LICENSE, REVOKED].map((license, i): Call => ({
    ...session,
    method: 'GET',
    path: `${license}/history?limit=1`,
    when: ['it was only created', 'more pages follow'][i] ?? '',
    status: 200,
  })),
  { ...session, method: 'GET', path: `${NO_LICENSE}/history`, when: 'it is not there', ...noLicense },
  { ...session, method: 'PATCH', path: LICENSE, when: 'everything changes', body: IN_FULL, status: 200 },
  { ...session, method: 'PATCH', path: NO_LICENSE, when: 'it is not there', body: {}, ...noLicense },
  { as: 'key', method: 'GET', path: `${LICENSE}/history`, when: 'everything has changed', status: 200 },
  {
    ...session,
    method: 'PATCH',
    path: REVOKED,
    when: 'it is revoked',
    body: { expires_at: null },
    ...badMove,
  },
  ...[LICENSE, NO_LICENSE, REVOKED].map((license, i): Call => ({
    ...session,
    method: 'POST',
    path: `${license}/renew`,
    when: ['it is there', 'it is not', 'it is revoked'][i] ?? '',
    body: { duration_days: 7 },
    ...([{ status: 200 }, noLicense, badMove][i] ?? { status: 0 }),
  })),
  ...(
    [
      ['suspend', '{license}', 'it is active'],
      ['reinstate', '{suspended}', 'it is suspended'],
      ['revoke', '{other license}', 'it is active'],
    ] as const
  ).flatMap(([move, id, when]): Call[] => [
    { ...session, method: 'POST', path: `/api/v1/licenses/${id}/${move}`, when, status: 200 },
    { ...session, method: 'POST', path: `${REVOKED}/${move}`, when: 'it is revoked', ...badMove },
    { ...session, method: 'POST', path: `${NO_LICENSE}/${move}`, when: 'it is not there', ...noLicense },
  ]),
];

const FORBIDDEN: Omit<Call, 'method' | 'path'>[] = [
  { as: 'nobody', when: 'nobody asks', status: 401, code: 'api_key_required' },
  { as: 'forged session', when: 'the session is unknown', status: 401, code: 'invalid_session' },
  { as: 'forged key', when: 'the key is forged', status: 403, code: 'api_key_invalid' },
  { as: 'verify-only key', when: 'the key may only verify', status: 403, code: 'insufficient_scope' },
  { as: 'foreign page', when: 'another site’s page asks', status: 403, code: 'origin_not_allowed' },
];

const MISSHAPEN: Omit<Call, 'method' | 'path' | 'as'>[] = [
  { when: 'the body does not parse', body: '{', status: 400, code: 'invalid_json' },
  { when: 'the body does not fit', body: [], status: 400, code: 'invalid_request' },
  { when: 'the body is over 64 KiB', body: `"${'x'.repeat(65_536)}"`, status: 413, code: 'body_too_large' },
  {
    when: 'the body is no JSON',
    body: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: 'unsupported_media_type',
  },
];

/** What every route refuses because of who asks or what is sent. */
const byDescription = (): Call[] =>
  documentedRoutes(app).flatMap(({ method, path, operation, inputs }) => {
    const target = { method, path: path.replace(/:[a-z_]+/g, 'none') };
    const as: CallerName = { public: 'nobody', key: 'key', account: 'session' }[
      operation.access
    ] as CallerName;
    const forbidden = {
      public: [],
      key: FORBIDDEN.filter(({ as }) => as === 'nobody' || as === 'forged key'),
      account: FORBIDDEN,
    }[operation.access];
    const calls: Call[] = forbidden.map((row) => ({ ...target, ...row }));
    for (const input of inputs) {
      if (input.in === 'body') calls.push(...MISSHAPEN.map((row) => ({ ...target, as, ...row })));
      if (input.in === 'query') {
        const bad = { when: 'the query does not fit', status: 400, code: 'invalid_request' } as const;
        calls.push({ ...target, path: `${target.path}?limit=0&cursor=x`, as, ...bad });
      }
    }
    return calls;
  });

export const CALLS: Call[] = [...byDescription(), ...BY_HAND, ...WEBHOOK_CALLS, ...BILLING_CALLS];
