import { expect, test } from 'vitest';
import { readText, tableOf } from './read.ts';

// A file of each license service in the form that docs/moving-from.md names, with values of our own.

const keygenLicense = (attributes: object) => ({
  id: 'k1',
  type: 'licenses',
  attributes: {
    name: 'Orrery for Ada',
    key: 'C1B6DE-39A6E3-DE1529',
    expiry: null,
    status: 'ACTIVE',
    uses: 0,
    suspended: false,
    maxMachines: 2,
    metadata: { email: 'ada@example.com', company: 'Engines', tags: [] },
    created: '2024-01-02T20:26:53.464Z',
    ...attributes,
  },
  relationships: {
    product: { data: { type: 'products', id: '3f' } },
    user: { data: null },
  },
});

test('reads Keygen’s licenses, also from several pages in one file', async () => {
  const line = {
    license_key: 'C1B6DE-39A6E3-DE1529',
    customer_email: 'ada@example.com',
    customer_company: 'Engines',
    product: '3f',
    expires_at: null,
    terms: { max_activations: 2 },
    metadata: {
      email: 'ada@example.com',
      company: 'Engines',
      keygen_id: 'k1',
      keygen_name: 'Orrery for Ada',
    },
    created_at: '2024-01-02T20:26:53.464Z',
  };
  const pages = [
    { data: [keygenLicense({})] },
    {
      data: [
        keygenLicense({ suspended: true, expiry: '2027-05-31T00:00:00.000Z' }),
        keygenLicense({ key: null }),
      ],
    },
  ];
  const { survey, outcomes } = await readText(pages.map((page) => JSON.stringify(page)).join('\n'));
  expect(survey.source).toBe('keygen');
  expect(outcomes).toEqual([
    line,
    { ...line, status: 'suspended', expires_at: '2027-05-31' },
    'left out: it has no license key',
  ]);
  expect((await readText(JSON.stringify({ data: keygenLicense({}) }))).outcomes).toEqual([line]);
});

test('reads Cryptlex’s licenses, from the API and from a table', async () => {
  const item = {
    id: 'l1',
    createdAt: '2024-05-01T11:16:16Z',
    key: '92A4DB-17FD8F-399CFF-065215',
    revoked: false,
    suspended: true,
    totalActivations: 1,
    allowedActivations: 0,
    type: 'node-locked',
    expiresAt: '2027-05-31T00:00:00Z',
    productId: 'prod-1',
    user: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', company: 'Engines' },
    metadata: [{ key: 'order', value: '12345', visible: true }],
  };
  const api = await readText(JSON.stringify([item]));
  expect([api.survey.source, api.outcomes]).toEqual([
    'cryptlex',
    [
      {
        license_key: '92A4DB-17FD8F-399CFF-065215',
        customer_email: 'ada@example.com',
        customer_name: 'Ada Lovelace',
        customer_company: 'Engines',
        product: 'prod-1',
        expires_at: '2027-05-31',
        status: 'suspended',
        terms: { max_activations: 'none' },
        metadata: { cryptlex_id: 'l1', cryptlex_order: '12345' },
        created_at: '2024-05-01T11:16:16.000Z',
      },
    ],
  ]);
  const table = await readText(
    'key,allowedActivations,order_id,email,firstName,lastName\n92A4DB-17FD8F,5,12345,ada@example.com,Ada,Lovelace\n',
  );
  expect([table.survey.source, table.outcomes]).toEqual([
    'cryptlex',
    [
      {
        license_key: '92A4DB-17FD8F',
        customer_email: 'ada@example.com',
        customer_name: 'Ada Lovelace',
        expires_at: null,
        terms: { max_activations: 5 },
        metadata: { cryptlex_order: '12345' },
      },
    ],
  ]);
});

test('reads LicenseSpring’s licenses', async () => {
  const row = {
    customer__email: 'ada@example.com',
    customer__first_name: 'Ada',
    customer__last_name: 'Lovelace',
    customer__company_name: 'Engines',
    order__store_id: 'order-1',
    license__license_key: 'GPB7-279T-6MNK-CQLK',
    license__enabled: 'True',
    license__max_activations: '3',
    license__allow_unlimited_activations: 'False',
    license__validity_period: '2027-05-31',
    license__maintenance_period: '2026-12-31',
    license__note: '',
    product__short_code: 'orrery',
  };
  const line = {
    license_key: 'GPB7-279T-6MNK-CQLK',
    customer_email: 'ada@example.com',
    customer_name: 'Ada Lovelace',
    customer_company: 'Engines',
    product: 'orrery',
    expires_at: '2027-05-31',
    updates_until: '2026-12-31',
    terms: { max_activations: 3 },
    metadata: { licensespring_order: 'order-1' },
  };
  const { survey, outcomes } = await readText(tableOf(row));
  expect([survey.source, outcomes]).toEqual(['licensespring', [line]]);
  const other = { license__enabled: 'False', license__allow_unlimited_activations: 'True' };
  expect((await readText(tableOf({ ...row, ...other }))).outcomes).toEqual([
    { ...line, status: 'suspended', terms: { max_activations: 'none' } },
  ]);
});
