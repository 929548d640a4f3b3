import { expect, test } from 'vitest';
import { readText, tableOf } from './read.ts';

// A file of each store in the form that docs/moving-from.md names, with values of our own.

const GUMROAD = {
  'Purchase ID': 'p1==',
  'Item Name': 'Orrery',
  'Buyer Name': 'Ada',
  'Purchase Email': 'ada@example.com',
  'Buyer Email': '',
  'Purchase Date': '2024-05-01',
  'Purchase Time (UTC timezone)': '2024-05-01 10:00:00 UTC',
  'Fully Refunded?': '0',
  'Disputed?': '0',
  'Dispute Won?': '0',
  'Access Revoked?': '0',
  Variants: '(Pro)',
  'Recurring Charge?': '0',
  'Giftee Email': '',
  'Subscription End Date': '',
  'License Key': '11111111-22222222-33333333-44444444',
  'License Key Enabled?': '1',
  Company: 'Engines',
};

test('reads Gumroad’s sales, and says which rows are no license', async () => {
  const sale = (fields: object = {}) => Object.values({ ...GUMROAD, ...fields }).join(',');
  const rows = [
    Object.keys(GUMROAD).join(','),
    sale(),
    sale({ 'Giftee Email': 'grace@example.com' }),
    sale({ 'License Key Enabled?': '0', 'Subscription End Date': '2027-05-01 00:00:00 UTC' }),
    sale({ 'Disputed?': '1', 'Dispute Won?': '1' }),
    sale({ 'Recurring Charge?': '1' }),
    'Totals',
    sale({ 'Subscription End Date': 'soon' }),
  ];
  const { survey, outcomes } = await readText(rows.join('\n'));
  const line = {
    license_key: '11111111-22222222-33333333-44444444',
    customer_email: 'ada@example.com',
    customer_name: 'Ada',
    customer_company: 'Engines',
    product: 'Orrery',
    expires_at: null,
    metadata: { gumroad_purchase: 'p1==', gumroad_variants: '(Pro)' },
    created_at: '2024-05-01',
  };
  const { customer_name: _, customer_company: __, ...given } = line;
  expect(survey.source).toBe('gumroad');
  expect(outcomes).toEqual([
    line,
    { ...given, customer_email: 'grace@example.com' },
    { ...line, status: 'suspended', expires_at: '2027-05-01' },
    line,
    'left out: it is a recurring charge, which repeats the first purchase',
    'left out: it has no license key',
    'failed: Subscription End Date: “soon” isn’t a date that can be read.',
  ]);
});

test('reads Gumroad’s sales that a German Excel has saved', async () => {
  const table = tableOf({ ...GUMROAD, 'Purchase Date': '01.05.2024' }, ';');
  const { survey, shape, outcomes } = await readText(table);
  expect([survey.source, shape]).toEqual(['gumroad', { kind: 'table', delimiter: ';', isSure: true }]);
  expect(outcomes).toEqual([expect.objectContaining({ created_at: '2024-05-01' })]);
});

const lemonSqueezyKey = {
  type: 'license-keys',
  id: '1',
  attributes: {
    store_id: 1,
    order_id: 41,
    product_id: 7,
    user_name: 'Ada',
    user_email: 'ada@example.com',
    key: '80e15db5-c796-436b-850c-8f9c98a48abe',
    key_short: 'XXXX-8f9c98a48abe',
    activation_limit: 5,
    instances_count: 1,
    disabled: 1,
    status: 'disabled',
    expires_at: '2027-05-24T14:15:07.000000Z',
    created_at: '2024-05-24T14:15:07.000000Z',
  },
  relationships: { product: { data: { type: 'products', id: '7' } } },
};

test('reads Lemon Squeezy’s license keys, with the products that the page includes', async () => {
  const line = {
    license_key: '80e15db5-c796-436b-850c-8f9c98a48abe',
    customer_email: 'ada@example.com',
    customer_name: 'Ada',
    product: '7',
    expires_at: '2027-05-24',
    status: 'suspended',
    terms: { max_activations: 5 },
    metadata: { lemonsqueezy_id: '1', lemonsqueezy_order: 41 },
    created_at: '2024-05-24T14:15:07.000Z',
  };
  const page = { meta: { page: { total: 1 } }, data: [lemonSqueezyKey] };
  const { survey, outcomes } = await readText(JSON.stringify(page, null, 2));
  expect([survey.source, outcomes]).toEqual(['lemonsqueezy', [line]]);
  const included = [{ type: 'products', id: '7', attributes: { name: 'Orrery' } }];
  const named = await readText(JSON.stringify({ ...page, included }));
  expect(named.outcomes).toEqual([{ ...line, product: 'Orrery' }]);
});

test('reads Polar’s license keys', async () => {
  const item = {
    id: 'l1',
    organization_id: 'o1',
    customer_id: 'c1',
    customer: { id: 'c1', email: 'ada@example.com', name: 'Ada' },
    benefit_id: 'b1',
    key: 'ORRERY-1C285B2D',
    display_key: '****-1C285B2D',
    status: 'granted',
    limit_activations: 3,
    usage: 0,
    expires_at: '2027-05-31T10:00:00Z',
  };
  const page = { items: [item, { ...item, status: 'revoked', limit_activations: null, expires_at: null }] };
  const { survey, outcomes } = await readText(JSON.stringify(page));
  const line = {
    license_key: 'ORRERY-1C285B2D',
    customer_email: 'ada@example.com',
    customer_name: 'Ada',
    product: 'b1',
    expires_at: '2027-05-31',
    terms: { max_activations: 3 },
    metadata: { polar_id: 'l1', polar_benefit: 'b1' },
  };
  const { terms: _, ...rest } = line;
  expect([survey.source, outcomes]).toEqual([
    'polar',
    [line, { ...rest, expires_at: null, status: 'revoked' }],
  ]);
});

test('reads Paddle Classic’s report of sent licenses', async () => {
  const row = {
    'Order ID': '123-456',
    'Product ID': '501',
    'Product Name': 'Orrery',
    'Customer Email': 'ada@example.com',
    'License Code': 'F00D-BEEF-0001',
    'Date Sent': '2023-05-31 10:00:00',
    'Paddle Issued License': 'Yes',
    'Paddle License ID': '9001',
  };
  const { survey, outcomes } = await readText(tableOf(row));
  expect([survey.source, outcomes]).toEqual([
    'paddle',
    [
      {
        license_key: 'F00D-BEEF-0001',
        customer_email: 'ada@example.com',
        product: 'Orrery',
        metadata: { paddle_order: '123-456', paddle_license: '9001' },
        created_at: '2023-05-31',
      },
    ],
  ]);
});
