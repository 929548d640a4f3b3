// A seller whose account has everything, and the calls whose answers are compared between releases.
import { expect } from 'vitest';
import { call, type Json } from '../../support/client.ts';

export const PASSWORD = 'correct horse battery';

const expectOk = ({ status, body }: { status: number; body: Json }): Json => {
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};

export const enroll = async (email: string) => {
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    expectOk(await call(method, path, { body, headers }));
  const { account, session } = await send('POST', '/api/register', {
    email,
    password: PASSWORD,
    name: 'Ada',
  });
  const bearer = { authorization: `Bearer ${session.token}` };
  const post = (path: string, body: Json = {}, headers: Record<string, string> = {}) =>
    send('POST', path, body, { ...bearer, ...headers });
  const addKey = (input: Json = {}) => post('/api/create-api-key', input);
  const { api_key: apiKey, id: keyId } = await addKey({ name: 'server' });
  return {
    email,
    accountId: account.id as string,
    session: session.token as string,
    bearer,
    apiKey: apiKey as string,
    keyIds: [keyId as string],
    send,
    post,
    addKey,
    addLicense: (input: Json = {}, headers = {}) => post('/api/v1/licenses/create', input, headers),
    addEndpoint: (input: Json) => post('/api/webhooks', input),
    /** Makes one of the four calls of an application. */
    apply: (path: string, license: Json, fields: Json = {}) =>
      send(
        'POST',
        `/api/v1/licenses/${path}`,
        { license_key: license.license_key, ...fields },
        {
          'x-api-key': apiKey,
        },
      ),
  };
};

export type Enrolled = Awaited<ReturnType<typeof enroll>>;

export const putProducts = async ({ send, bearer }: Enrolled) => {
  const put = (code: string, product: Json) => send('PUT', `/api/v1/products/${code}`, product, bearer);
  await put('orrery', {
    name: 'Orrery',
    terms: { max_activations: 2, self_service: true, offline_days: 30, entitlements: { tier: 'gold' } },
  });
  await put('planetarium', { terms: { max_activations: 2, lease_seconds: 86_400 } });
};

export const addLicenses = async (ada: Enrolled) => {
  const licenses: Record<string, Json> = {
    plain: await ada.addLicense({ customer_email: 'grace@example.com', customer_name: 'Grace Hopper' }),
    ownKey: await ada.addLicense({
      license_key: 'OWN-KEY-0001',
      metadata: { order: 17, gift: true, note: 'It’s' },
    }),
    ending: await ada.addLicense({ expires_at: '2030-12-31', product: 'Atlas' }),
    ended: await ada.addLicense({ expires_at: '2030-03-01' }),
    suspended: await ada.addLicense({ customer_email: 'mary@example.com' }),
    reinstated: await ada.addLicense(),
    revoked: await ada.addLicense(),
    renewed: await ada.addLicense({ duration_days: 5 }),
    seats: await ada.addLicense({ product: 'orrery' }),
    floating: await ada.addLicense({ product: 'planetarium', updates_until: '2031-01-01' }),
    ownTerms: await ada.addLicense({
      product: 'orrery',
      terms: { max_activations: 3, entitlements: { export: true } },
    }),
    rotated: await ada.addLicense({ customer_name: 'Ångström' }),
    deleted: await ada.addLicense({ customer_name: 'Nobody' }),
  };
  return licenses;
};

export const changeLicenses = async ({ post, send, bearer }: Enrolled, licenses: Record<string, Json>) => {
  const path = (name: string) => `/api/v1/licenses/${licenses[name].id}`;
  await post(`${path('suspended')}/suspend`);
  await post(`${path('reinstated')}/suspend`);
  await post(`${path('reinstated')}/reinstate`);
  await post(`${path('revoked')}/revoke`);
  await post(`${path('renewed')}/renew`, { expires_at: '2031-06-30' });
  licenses['newKey'] = await post(`${path('rotated')}/rotate-key`);
  await send('PATCH', path('plain'), { customer_name: 'Rear Admiral Hopper', metadata: { rank: 1 } }, bearer);
  await send('DELETE', path('deleted'), undefined, bearer);
};

export const listCalls = (
  ada: Enrolled,
  licenses: Record<string, Json>,
  endpoints: Json[],
  sessions: string[],
) => {
  const get = (path: string, headers: Record<string, string> = ada.bearer) => ({
    method: 'GET',
    path,
    headers,
  });
  const post = (path: string, body: Json, headers: Record<string, string> = { 'x-api-key': ada.apiKey }) => ({
    method: 'POST',
    path: `/api/v1/licenses/${path}`,
    headers,
    body,
  });
  const all = Object.values(licenses);
  const key = ({ license_key }: Json, fields: Json = {}) => ({ license_key, ...fields });
  return [
    ...sessions.map((token) => get('/api/account', { authorization: `Bearer ${token}` })),
    ...['account', 'api-keys', 'dashboard', 'developer-progress', 'billing', 'webhooks', 'v1/products'].map(
      (path) => get(`/api/${path}`),
    ),
    ...ada.keyIds.map((id) => get(`/api/api-keys/${id}`)),
    ...endpoints.map(({ id }) => get(`/api/webhooks/${id}`)),
    get('/api/v1/products/orrery'),
    get(`/api/v1/jwks/${ada.accountId}`, {}),
    ...['active', 'expired', 'suspended', 'revoked'].map((status) =>
      get(`/api/v1/licenses?status=${status}`),
    ),
    ...['limit=100', `limit=4&cursor=${licenses['reinstated'].id}`].map((query) =>
      get(`/api/v1/licenses?${query}`),
    ),
    ...[
      'grace@example.com',
      'race@ex',
      'hopper',
      'orrery',
      'OWN-KEY',
      licenses['plain'].license_key,
      'ång',
    ].map((q) => get(`/api/v1/licenses?q=${encodeURIComponent(q)}`)),
    ...all.flatMap(({ id }) =>
      ['', '/history', '/activations', '/seat-history'].map((part) => get(`/api/v1/licenses/${id}${part}`)),
    ),
    ...all.map((license) => post('verify', key(license))),
    post('verify', { license_key: 'UNKNOWN-KEY' }),
    post('create', { customer_name: 'Once' }, { ...ada.bearer, 'idempotency-key': 'order-17' }),
    post('verify', key(licenses['seats'], { fingerprint: 'machine-0001', nonce: 'nonce-0001' })),
    post('activate', key(licenses['seats'], { fingerprint: 'machine-0001' })),
    post('activate', key(licenses['seats'], { fingerprint: 'machine-0009' })),
    post('heartbeat', key(licenses['floating'], { fingerprint: 'machine-0001' })),
    post('heartbeat', key(licenses['floating'], { fingerprint: 'machine-0002' })),
    post('deactivate', key(licenses['ownTerms'], { fingerprint: 'machine-0003' })),
  ];
};
