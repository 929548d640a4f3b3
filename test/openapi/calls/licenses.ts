import type * as z from 'zod';
import type { patchLicenseInput } from '../../../src/licenses/schemas.ts';
import type { Area, Call } from '../area.ts';

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

const UNKNOWN: Call = { when: 'the license does not exist', answers: '404 license_not_found' };
const REVOKED: Call = { when: 'the license is revoked', answers: '409 invalid_transition' };

/** The calls that change a license's state, for a license in the state in which they succeed. */
const transition = (action: string, license: string): Area['calls'] => ({
  [`POST /api/v1/licenses/{${license}}/${action}`]: [
    { when: `the license is ${license}`, answers: '200 ok' },
  ],
  [`POST /api/v1/licenses/{revoked}/${action}`]: [REVOKED],
  [`POST /api/v1/licenses/lic_none/${action}`]: [UNKNOWN],
});

/** For an account with licenses in three states, one of which has the key TAKEN-KEY. */
export const LICENSES: Area = {
  setUp: async ({ createLicense, asSession }) => {
    const licenseAfter = async (action: string) => {
      const { id } = await createLicense();
      await asSession('POST', `/api/v1/licenses/${id}/${action}`);
      return id as string;
    };
    await asSession('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'taken' });
    return {
      active: (await createLicense({ license_key: 'TAKEN-KEY' })).id,
      suspended: await licenseAfter('suspend'),
      revoked: await licenseAfter('revoke'),
    };
  },
  calls: {
    'POST /api/v1/licenses/create': [
      { when: 'there is no body', answers: '201 ok' },
      { as: 'key', when: 'called with an API key', body: {}, answers: '201 ok' },
      { when: 'every field is set', body: { ...ALL_FIELDS, license_key: 'MY-OWN-KEY' }, answers: '201 ok' },
      {
        when: 'duration_days is set',
        body: { duration_days: 30 },
        headers: { 'idempotency-key': 'fresh' },
        answers: '201 ok',
      },
      {
        when: 'the license key is taken',
        body: { license_key: 'TAKEN-KEY' },
        answers: '409 license_key_taken',
      },
      {
        when: 'the Idempotency-Key was used with another body',
        body: { product: 'Other' },
        headers: { 'idempotency-key': 'taken' },
        answers: '409 idempotency_conflict',
      },
      {
        when: 'the Idempotency-Key is invalid',
        headers: { 'idempotency-key': 'a b' },
        answers: '400 invalid_request',
      },
      {
        when: 'the content type only resembles JSON',
        body: {},
        headers: { 'content-type': 'application/a+b+json' },
        answers: '415 unsupported_media_type',
      },
    ],
    'POST /api/v1/licenses/import?dry_run=true': [
      {
        when: 'a line is a license and another one is not',
        headers: { 'content-type': 'application/x-ndjson' },
        body: '{"license_key":"IMPORTED-KEY"}\n{"license_key":1}',
        answers: '200 ok',
      },
    ],
    'POST /api/v1/licenses/import': [
      {
        when: 'a column is unknown',
        headers: { 'content-type': 'text/csv' },
        body: 'licence\nx',
        answers: '400 invalid_request',
      },
    ],
    'GET /api/v1/licenses': [{ when: 'there are licenses', answers: '200 ok' }],
    'GET /api/v1/customers?limit=1&q=a': [{ when: 'a page is asked for', answers: '200 ok' }],
    'GET /api/v1/customers?cursor=1': [{ when: 'the cursor is no cursor', answers: '400 invalid_request' }],
    'GET /api/v1/licenses?limit=2': [{ when: 'more pages follow', answers: '200 ok' }],
    'GET /api/v1/licenses?status=revoked': [{ when: 'a license has the status', answers: '200 ok' }],
    'GET /api/v1/licenses?status=expired': [{ when: 'no license has the status', answers: '200 ok' }],
    'GET /api/v1/licenses?q=taken': [{ when: 'a license matches', answers: '200 ok' }],
    'GET /api/v1/licenses?product=none&metadata.order=1&sort=-expires_at': [
      { when: 'no license fits the filters', answers: '200 ok' },
    ],
    'GET /api/v1/licenses?q=t&status=active': [{ when: 'a license matches', answers: '200 ok' }],
    'GET /api/v1/licenses/{active}': [{ when: 'the license exists', answers: '200 ok' }],
    'GET /api/v1/licenses/lic_none': [UNKNOWN],
    'GET /api/v1/licenses/{active}/history?limit=1': [
      { when: 'the license was only created', answers: '200 ok' },
    ],
    'GET /api/v1/licenses/{revoked}/history?limit=1': [{ when: 'more pages follow', answers: '200 ok' }],
    'GET /api/v1/licenses/lic_none/history': [UNKNOWN],
    'PATCH /api/v1/licenses/{active}': [{ when: 'every field changes', body: ALL_FIELDS, answers: '200 ok' }],
    'PATCH /api/v1/licenses/{revoked}': [{ ...REVOKED, body: { expires_at: null } }],
    'PATCH /api/v1/licenses/lic_none': [{ ...UNKNOWN, body: {} }],
    'POST /api/v1/licenses/{active}/renew': [
      { when: 'the license is active', body: { duration_days: 7 }, answers: '200 ok' },
    ],
    'POST /api/v1/licenses/{revoked}/renew': [{ ...REVOKED, body: { duration_days: 7 } }],
    'POST /api/v1/licenses/lic_none/renew': [{ ...UNKNOWN, body: { duration_days: 7 } }],
    ...transition('suspend', 'active'),
    ...transition('reinstate', 'suspended'),
    ...transition('revoke', 'active'),
    'DELETE /api/v1/licenses/{active}': [
      { when: 'the license exists', answers: '200 ok' },
      { when: 'the license was deleted', answers: '404 license_not_found' },
    ],
    'POST /api/v1/licenses/{active}/rotate-key': [
      { when: 'a key is generated', body: {}, answers: '200 ok' },
    ],
    'POST /api/v1/licenses/{suspended}/rotate-key': [
      { when: 'the new key is taken', body: { license_key: 'TAKEN-KEY' }, answers: '409 license_key_taken' },
    ],
    'POST /api/v1/licenses/lic_none/rotate-key': [{ ...UNKNOWN, body: {} }],
    'POST /api/v1/licenses/{revoked}/token': [{ ...REVOKED, body: {} }],
    'POST /api/v1/licenses/lic_none/token': [{ ...UNKNOWN, body: {} }],
  },
};
