import type * as z from 'zod';
import type { patchLicenseInput } from '../../src/licenses/schemas.ts';
import { APPLICATION_CALLS } from './application-calls.ts';
import { BILLING_CALLS } from './billing-calls.ts';
import { derivedCalls } from './derived-calls.ts';
import type { Call } from './fixtures.ts';
import { PEOPLE_CALLS } from './people-calls.ts';
import { TWO_FACTOR_CALLS } from './two-factor-calls.ts';
import { WEBHOOK_CALLS } from './webhook-calls.ts';

// Calls to every operation. The calls listed here succeed, or fail with an error that is specific to the operation.

const ALL_FIELDS = {
  customer_email: 'grace@example.com',
  customer_name: 'Grace',
  product: 'Orrery',
  expires_at: '2999-12-31',
  metadata: { seats: 3, beta: true, note: 'x' },
  terms: { max_activations: 3, lease_seconds: 'none', entitlements: { export: true, cloud: null } },
  updates_until: '2999-12-31',
} satisfies Required<z.input<typeof patchLicenseInput>>;

const LICENSE = '/api/v1/licenses/{license}';
const UNKNOWN = '/api/v1/licenses/lic_none';
const REVOKED = '/api/v1/licenses/{revoked}';
const noLicense = { status: 404, code: 'license_not_found' } as const;
const invalidTransition = { status: 409, code: 'invalid_transition' } as const;
const noKey = { status: 404, code: 'api_key_not_found' } as const;
const session = { as: 'session' } as const;
const anonymous = { as: 'anonymous' } as const;

const CREATE = '/api/v1/licenses/create';
const VERIFY = '/api/v1/licenses/verify';
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
  ...(
    [
      ['key', 'active', 'TAKEN-KEY'],
      ['verify-only key', 'unknown', 'UNKNOWN-KEY'],
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
    { when: 'there is no body', status: 201 },
    { when: 'every field is set', body: { ...ALL_FIELDS, license_key: 'MY-OWN-KEY' }, status: 201 },
    {
      when: 'duration_days is set',
      body: { duration_days: 30 },
      headers: { 'idempotency-key': 'fresh' },
      status: 201,
    },
    {
      when: 'the license key is taken',
      body: { license_key: 'TAKEN-KEY' },
      status: 409,
      code: 'license_key_taken' as const,
    },
    {
      when: 'the Idempotency-Key was used with another body',
      body: { product: 'Other' },
      headers: { 'idempotency-key': 'taken' },
      status: 409,
      code: 'idempotency_conflict' as const,
    },
    {
      when: 'the content type only resembles JSON',
      body: {},
      headers: { 'content-type': 'application/a+b+json' },
      status: 415,
      code: 'unsupported_media_type' as const,
    },
    {
      when: 'the Idempotency-Key is invalid',
      headers: { 'idempotency-key': 'a b' },
      status: 400,
      code: 'invalid_request' as const,
    },
  ].map((row) => ({ ...session, method: 'POST', path: CREATE, ...row })),
  { as: 'key', method: 'POST', path: CREATE, when: 'called with an API key', body: {}, status: 201 },
  ...['', '?limit=2', '?status=expired', '?status=revoked', '?q=orrery', '?q=o&status=active'].map(
    (query): Call => ({
      ...session,
      method: 'GET',
      path: `/api/v1/licenses${query}`,
      when: 'there are licenses',
      status: 200,
    }),
  ),
  { ...session, method: 'GET', path: LICENSE, when: 'the license exists', status: 200 },
  { ...session, method: 'GET', path: UNKNOWN, when: 'the license does not exist', ...noLicense },
  ...[LICENSE, REVOKED].map((license, i): Call => ({
    ...session,
    method: 'GET',
    path: `${license}/history?limit=1`,
    when: ['the license was only created', 'more pages follow'][i] ?? '',
    status: 200,
  })),
  { ...session, method: 'GET', path: `${UNKNOWN}/history`, when: 'the license does not exist', ...noLicense },
  { ...session, method: 'PATCH', path: LICENSE, when: 'every field changes', body: ALL_FIELDS, status: 200 },
  { ...session, method: 'PATCH', path: UNKNOWN, when: 'the license does not exist', body: {}, ...noLicense },
  { as: 'key', method: 'GET', path: `${LICENSE}/history`, when: 'every field has changed', status: 200 },
  {
    ...session,
    method: 'PATCH',
    path: REVOKED,
    when: 'the license is revoked',
    body: { expires_at: null },
    ...invalidTransition,
  },
  ...[LICENSE, UNKNOWN, REVOKED].map((license, i): Call => ({
    ...session,
    method: 'POST',
    path: `${license}/renew`,
    when: ['the license exists', 'the license does not exist', 'the license is revoked'][i] ?? '',
    body: { duration_days: 7 },
    ...([{ status: 200 }, noLicense, invalidTransition][i] ?? { status: 0 }),
  })),
  ...(
    [
      ['suspend', '{license}', 'the license is active'],
      ['reinstate', '{suspended}', 'the license is suspended'],
      ['revoke', '{other license}', 'the license is active'],
    ] as const
  ).flatMap(([action, id, when]): Call[] => [
    { ...session, method: 'POST', path: `/api/v1/licenses/${id}/${action}`, when, status: 200 },
    {
      ...session,
      method: 'POST',
      path: `${REVOKED}/${action}`,
      when: 'the license is revoked',
      ...invalidTransition,
    },
    {
      ...session,
      method: 'POST',
      path: `${UNKNOWN}/${action}`,
      when: 'the license does not exist',
      ...noLicense,
    },
  ]),
];

export const CALLS: Call[] = [
  ...derivedCalls(),
  ...LISTED_CALLS,
  ...APPLICATION_CALLS,
  ...TWO_FACTOR_CALLS,
  ...WEBHOOK_CALLS,
  ...BILLING_CALLS,
  ...PEOPLE_CALLS,
];
