import type { Area, Call } from '../area.ts';

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

const UNKNOWN: Call = { when: 'the license does not exist', answers: '404 license_not_found' };

const SEATED = { license_key: 'SEATED-KEY', fingerprint: 'machine-0001' };
const UNSEATED = { license_key: 'SEATED-KEY', fingerprint: 'machine-0002' };

/** A call that an application makes from a machine with a seat, and from one for which no seat is left. */
const applicationCalls: Call[] = [
  { as: 'verify-only key', when: 'the machine holds a seat', body: SEATED, answers: '200 ok' },
  { as: 'verify-only key', when: 'the machine has no seat', body: UNSEATED, answers: '200 ok' },
];

/** For an account with two products, and a license whose only seat a machine holds. */
export const APPLICATIONS: Area = {
  setUp: async ({ asSession, asKey, createLicense }) => {
    await asSession('PUT', '/api/v1/products/used', { terms: { max_activations: 1 } });
    await asSession('PUT', '/api/v1/products/unused', {});
    const { id } = await createLicense({ product: 'used', license_key: 'SEATED-KEY' });
    const { activation } = (await asKey('POST', '/api/v1/licenses/activate', SEATED)).body;
    return { license: id, activation: activation.id };
  },
  calls: {
    'POST /api/v1/licenses/verify': [
      ...applicationCalls,
      { as: 'key', when: 'only the key is sent', body: { license_key: 'SEATED-KEY' }, answers: '200 ok' },
      {
        as: 'verify-only key',
        when: 'the license is unknown',
        body: { license_key: 'UNKNOWN-KEY' },
        answers: '200 ok',
      },
    ],
    'POST /api/v1/licenses/activate': applicationCalls,
    'POST /api/v1/licenses/heartbeat': applicationCalls,
    'POST /api/v1/licenses/deactivate': applicationCalls,
    'POST /api/v1/licenses/create': [
      { when: 'the product does not exist', body: { product: 'usde' }, answers: '400 invalid_request' },
    ],
    'POST /api/v1/licenses/create?allow_unknown_product=true': [
      { when: 'the product is a mere label', body: { product: 'usde' }, answers: '201 ok' },
    ],
    'PATCH /api/v1/licenses/{license}': [
      { when: 'the product does not exist', body: { product: 'usde' }, answers: '400 invalid_request' },
    ],
    'GET /api/v1/products': [{ when: 'there are products', answers: '200 ok' }],
    'GET /api/v1/products?limit=1': [{ when: 'more pages follow', answers: '200 ok' }],
    'GET /api/v1/products/used': [{ when: 'the product exists', answers: '200 ok' }],
    'GET /api/v1/products/none': [{ when: 'the product does not exist', answers: '404 product_not_found' }],
    'PUT /api/v1/products/new': [
      { when: 'the product is new', body: { name: 'New', terms: ALL_TERMS }, answers: '201 ok' },
      { when: 'the product exists', body: { terms: { max_activations: 1 } }, answers: '200 ok' },
    ],
    'PUT /api/v1/products/a%20b': [{ when: 'the code is invalid', body: {}, answers: '400 invalid_request' }],
    'DELETE /api/v1/products/unused': [{ when: 'no license names the product', answers: '200 ok' }],
    'DELETE /api/v1/products/used': [{ when: 'a license names the product', answers: '409 product_in_use' }],
    'DELETE /api/v1/products/none': [
      { when: 'the product does not exist', answers: '404 product_not_found' },
    ],
    'GET /api/v1/licenses/{license}/activations': [{ when: 'a machine holds a seat', answers: '200 ok' }],
    'GET /api/v1/licenses/{license}/activations?limit=1': [{ when: 'a page is full', answers: '200 ok' }],
    'GET /api/v1/licenses/lic_none/activations': [UNKNOWN],
    'GET /api/v1/licenses/{license}/seat-history': [
      { when: 'a machine has taken a seat', answers: '200 ok' },
    ],
    'GET /api/v1/licenses/lic_none/seat-history': [UNKNOWN],
    'POST /api/v1/licenses/{license}/token': [
      {
        when: 'the machine holds a seat',
        body: { fingerprint: 'machine-0001', days: 30 },
        answers: '200 ok',
      },
      { when: 'all seats are taken', body: { fingerprint: 'machine-0002' }, answers: '409 no_seat' },
    ],
    'DELETE /api/v1/licenses/{license}/activations/{activation}': [
      { when: 'the seat is held', answers: '200 ok' },
      { when: 'the seat was released', answers: '404 activation_not_found' },
    ],
    'DELETE /api/v1/licenses/lic_none/activations/{activation}': [UNKNOWN],
    'GET /api/v1/jwks/acct_0VJ1mKq7XbT2c9LpQwZa': [
      { as: 'anonymous', when: 'the account id is well-formed', answers: '200 ok' },
    ],
    'GET /api/v1/jwks/acct_none': [
      { as: 'anonymous', when: 'the account id is not well-formed', answers: '404 not_found' },
    ],
  },
};

/** For an account with a license whose only seat a file for a machine without a network holds. */
export const OFFLINE_FILES: Area = {
  setUp: async (ada) => {
    const values = (await APPLICATIONS.setUp?.(ada)) ?? {};
    await ada.asSession('POST', `/api/v1/licenses/${values['license']}/token`, {
      fingerprint: 'machine-0001',
    });
    return values;
  },
  calls: {
    'DELETE /api/v1/licenses/{license}/activations/{activation}': [
      { when: 'a file holds the seat', answers: '409 invalid_transition' },
    ],
    'DELETE /api/v1/licenses/{license}/activations/{activation}?force=true': [
      { when: 'a file holds the seat', answers: '200 ok' },
    ],
  },
};
