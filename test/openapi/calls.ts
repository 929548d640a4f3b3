import { APPLICATION_CALLS } from './application-calls.ts';
import { BILLING_CALLS } from './billing-calls.ts';
import { derivedCalls } from './derived-calls.ts';
import type { Call } from './fixtures.ts';
import { LICENSE_CALLS } from './license-calls.ts';
import { PEOPLE_CALLS } from './people-calls.ts';
import { TWO_FACTOR_CALLS } from './two-factor-calls.ts';
import { WEBHOOK_CALLS } from './webhook-calls.ts';

// Calls to every operation. The calls listed here succeed, or fail with an error that is specific to the operation.

const invalidTransition = { status: 409, code: 'invalid_transition' } as const;
const noKey = { status: 404, code: 'api_key_not_found' } as const;
const session = { as: 'session' } as const;
const anonymous = { as: 'anonymous' } as const;

const ADA = { email: '{email}', password: '{password}' };

const LISTED_CALLS: Call[] = [
  {
    ...session,
    method: 'POST',
    path: '/api/v1/licenses/import?dry_run=true',
    when: 'a line is a license and another one is not',
    headers: { 'content-type': 'application/x-ndjson' },
    body: '{"license_key":"IMPORTED-KEY"}\n{"license_key":1}',
    status: 200,
  },
  {
    ...session,
    method: 'POST',
    path: '/api/v1/licenses/import',
    when: 'a column is unknown',
    headers: { 'content-type': 'text/csv' },
    body: 'licence\nx',
    status: 400,
    code: 'invalid_request',
  },
  { ...anonymous, method: 'GET', path: '/health', when: 'the service is healthy', status: 200 },
  ...[
    {
      when: 'the email address is new',
      body: { email: 'grace@new.example', password: '0123456789', name: 'G' },
      status: 201,
    },
    { when: 'the email address is taken', body: ADA, status: 409, code: 'email_taken' as const },
  ].map((row) => ({ ...anonymous, method: 'POST', path: '/api/register', ...row })),
  ...[
    { when: 'the password is correct', body: ADA, status: 200 },
    {
      when: 'the password is wrong',
      body: { ...ADA, password: '' },
      status: 401,
      code: 'invalid_credentials' as const,
    },
  ].map((row) => ({ ...anonymous, method: 'POST', path: '/api/login', ...row })),
  { as: 'key', method: 'POST', path: '/api/logout', when: 'called with an API key', status: 200 },
  ...[
    '/api/account',
    '/api/audit-log',
    '/api/regions',
    '/api/dashboard',
    '/api/developer-progress',
    '/api/onboarding',
    '/api/export',
    '/api/api-keys',
  ].flatMap((path) =>
    (['session', 'key'] as const).map((as): Call => ({
      as,
      method: 'GET',
      path,
      when: `called with ${as === 'key' ? 'an API key' : 'a session'}`,
      status: 200,
    })),
  ),
  ...[
    { when: 'the region is another one', body: { region: 'oc' }, status: 202 },
    { when: 'the account is moving or has moved', body: { region: 'weur' }, ...invalidTransition },
  ].map((row) => ({ ...session, method: 'POST', path: '/api/home-region', ...row })),
  { ...session, method: 'GET', path: '/api/api-keys?limit=1', when: 'more pages follow', status: 200 },
  { ...session, method: 'POST', path: '/api/create-api-key', when: 'there is no body', status: 201 },
  {
    ...session,
    method: 'POST',
    path: '/api/create-api-key',
    when: 'expires_at is in the year 10000 in UTC',
    body: { expires_at: '9999-12-31T23:59:59-01:00' },
    status: 400,
    code: 'invalid_request',
  },
  {
    ...session,
    method: 'POST',
    path: '/api/create-api-key',
    when: 'every field is set',
    body: { name: 'CI', scope: 'verify', expires_at: '2999-01-01T00:00:00+02:00' },
    status: 201,
  },
  { ...session, method: 'GET', path: '/api/api-keys/{key}', when: 'the API key exists', status: 200 },
  { ...session, method: 'GET', path: '/api/api-keys/key_none', when: 'the API key does not exist', ...noKey },
  ...[
    { when: 'the API key works', body: { overlap_hours: 0 }, status: 201 },
    { when: 'the API key has expired', ...invalidTransition },
  ].map((row) => ({ ...session, method: 'POST', path: '/api/api-keys/{key to delete}/rotate', ...row })),
  {
    ...session,
    method: 'DELETE',
    path: '/api/api-keys/{key to delete}',
    when: 'the API key exists',
    status: 200,
  },
  {
    ...session,
    method: 'DELETE',
    path: '/api/api-keys/{key to delete}',
    when: 'the API key was deleted',
    ...noKey,
  },
];

export const CALLS: Call[] = [
  ...derivedCalls(),
  ...LISTED_CALLS,
  ...LICENSE_CALLS,
  ...APPLICATION_CALLS,
  ...TWO_FACTOR_CALLS,
  ...WEBHOOK_CALLS,
  ...BILLING_CALLS,
  ...PEOPLE_CALLS,
];
