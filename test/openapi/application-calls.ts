import type { Call } from './fixtures.ts';

// Calls to every operation on products, activations and tokens.

const session = { as: 'session' } as const;
const PRODUCTS = '/api/v1/products';
const SEATED = '/api/v1/licenses/{seated}';
const UNKNOWN = '/api/v1/licenses/lic_none';
const noProduct = { status: 404, code: 'product_not_found' } as const;
const noLicense = { status: 404, code: 'license_not_found' } as const;
const machine = (n: number) => ({ license_key: 'SEATED-KEY', fingerprint: `machine-000${n}` });

const ALL_TERMS = {
  max_activations: 3,
  lease_seconds: 3_600,
  offline_days: 7,
  max_transfers: 2,
  self_service: true,
  duration_days: 365,
  updates_days: 365,
  entitlements: { export: true, tier: 'pro', seats: 3 },
};

export const APPLICATION_CALLS: Call[] = [
  ...[
    {
      path: `${PRODUCTS}/new`,
      when: 'the product is new',
      body: { name: 'New', terms: ALL_TERMS },
      status: 201,
    },
    {
      path: `${PRODUCTS}/used`,
      when: 'the product exists',
      body: { terms: { max_activations: 1 } },
      status: 200,
    },
    {
      path: `${PRODUCTS}/a%20b`,
      when: 'the code is invalid',
      body: {},
      status: 400,
      code: 'invalid_request' as const,
    },
  ].map((row) => ({ ...session, method: 'PUT', ...row })),
  ...['', '?limit=1'].map((query): Call => ({
    ...session,
    method: 'GET',
    path: PRODUCTS + query,
    when: 'there are products',
    status: 200,
  })),
  { ...session, method: 'GET', path: `${PRODUCTS}/used`, when: 'the product exists', status: 200 },
  { ...session, method: 'GET', path: `${PRODUCTS}/none`, when: 'the product does not exist', ...noProduct },
  {
    ...session,
    method: 'DELETE',
    path: `${PRODUCTS}/unused`,
    when: 'no license names the product',
    status: 200,
  },
  {
    ...session,
    method: 'DELETE',
    path: `${PRODUCTS}/none`,
    when: 'the product does not exist',
    ...noProduct,
  },
  {
    ...session,
    method: 'DELETE',
    path: `${PRODUCTS}/used`,
    when: 'a license names the product',
    status: 409,
    code: 'product_in_use',
  },
  ...['verify', 'activate', 'heartbeat'].flatMap((name): Call[] =>
    [1, 2].map((n) => ({
      as: 'verify-only key',
      method: 'POST',
      path: `/api/v1/licenses/${name}`,
      when: n === 1 ? 'the machine holds a seat' : 'the machine has no seat',
      body: machine(n),
      status: 200,
    })),
  ),
  {
    as: 'verify-only key',
    method: 'POST',
    path: '/api/v1/licenses/deactivate',
    when: 'the machine has no seat',
    body: machine(2),
    status: 200,
  },
  ...['activations', 'activations?limit=1', 'seat-history'].map((list): Call => ({
    ...session,
    method: 'GET',
    path: `${SEATED}/${list}`,
    when: 'a machine holds a seat',
    status: 200,
  })),
  ...['activations', 'seat-history'].map((list): Call => ({
    ...session,
    method: 'GET',
    path: `${UNKNOWN}/${list}`,
    when: 'the license does not exist',
    ...noLicense,
  })),
  {
    ...session,
    method: 'POST',
    path: `${SEATED}/token`,
    when: 'the machine holds a seat',
    body: { fingerprint: 'machine-0001', days: 30 },
    status: 200,
  },
  {
    ...session,
    method: 'POST',
    path: `${SEATED}/token`,
    when: 'all seats are taken',
    body: { fingerprint: 'machine-0002' },
    status: 409,
    code: 'no_seat',
  },
  {
    ...session,
    method: 'POST',
    path: '/api/v1/licenses/{revoked}/token',
    when: 'the license is revoked',
    body: {},
    status: 409,
    code: 'invalid_transition',
  },
  {
    ...session,
    method: 'POST',
    path: `${UNKNOWN}/token`,
    when: 'the license does not exist',
    body: {},
    ...noLicense,
  },
  ...[
    { path: SEATED, when: 'a file holds the seat', status: 409, code: 'invalid_transition' as const },
    { path: UNKNOWN, when: 'the license does not exist', ...noLicense },
  ].map(({ path, ...row }) => ({
    ...session,
    method: 'DELETE',
    path: `${path}/activations/{activation}`,
    ...row,
  })),
  ...[
    { when: 'the seat is held', status: 200 },
    { when: 'the seat was released', status: 404, code: 'activation_not_found' as const },
  ].map((row) => ({
    ...session,
    method: 'DELETE',
    path: `${SEATED}/activations/{activation}?force=true`,
    ...row,
  })),
  {
    ...session,
    method: 'POST',
    path: `${SEATED}/rotate-key`,
    when: 'the new key is taken',
    body: { license_key: 'TAKEN-KEY' },
    status: 409,
    code: 'license_key_taken',
  },
  {
    ...session,
    method: 'POST',
    path: `${SEATED}/rotate-key`,
    when: 'a key is generated',
    body: {},
    status: 200,
  },
  {
    ...session,
    method: 'POST',
    path: `${UNKNOWN}/rotate-key`,
    when: 'the license does not exist',
    body: {},
    ...noLicense,
  },
  { ...session, method: 'DELETE', path: SEATED, when: 'the license exists', status: 200 },
  { ...session, method: 'DELETE', path: SEATED, when: 'the license was deleted', ...noLicense },
  {
    as: 'anonymous',
    method: 'GET',
    path: '/api/v1/jwks/acct_0VJ1mKq7XbT2c9LpQwZa',
    when: 'the account id is well-formed',
    status: 200,
  },
  {
    as: 'anonymous',
    method: 'GET',
    path: '/api/v1/jwks/acct_none',
    when: 'the account id is not well-formed',
    status: 404,
    code: 'not_found',
  },
];
