import type * as z from 'zod';
import type { patchLicenseInput } from '../../src/licenses/schemas.ts';
import type { Call } from './fixtures.ts';

const ALL_FIELDS = {
  customer_email: 'grace@example.com',
  customer_name: 'Grace',
  customer_company: 'Eckert–Mauchly',
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
const session = { as: 'session' } as const;

const CREATE = '/api/v1/licenses/create';
const VERIFY = '/api/v1/licenses/verify';

/** Calls to the operations on licenses, besides those of applications. */
export const LICENSE_CALLS: Call[] = [
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
