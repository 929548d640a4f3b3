import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { PRESETS } from '../../../src/client/cli/transfer/presets.ts';
import { readRecords } from '../../../src/client/cli/transfer/records.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-presets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const records = async (file: string, isPreset = true) => {
  const found = [];
  for await (const record of readRecords(file, isPreset)) found.push(record);
  return found;
};

describe('presets', () => {
  const csvOf = async (row: Record<string, string>) =>
    (await records(write('sales.csv', `${Object.keys(row).join(',')}\n${Object.values(row).join(',')}\n`)))[0]
      ?.fields ?? {};

  test('reads Gumroad’s sales, and leaves out recurring charges and the totals', async () => {
    const sale = {
      'Purchase ID': 'p1',
      'Item Name': 'Orrery',
      'Buyer Name': 'Ada',
      Company: 'Engines',
      'Purchase Email': 'ada@example.com',
      'Purchase Date': '2024-05-01',
      'Fully Refunded?': '0',
      'Recurring Charge?': '0',
      'License Key': '11111111-22222222',
      'License Key Enabled?': '1',
    };
    const { gumroad } = PRESETS;
    expect(gumroad?.(await csvOf(sale))).toEqual({
      license_key: '11111111-22222222',
      customer_email: 'ada@example.com',
      customer_name: 'Ada',
      customer_company: 'Engines',
      product: 'Orrery',
      expires_at: null,
      metadata: { gumroad_purchase: 'p1' },
      created_at: '2024-05-01',
    });
    const gift = gumroad?.({ ...sale, 'Giftee Email': 'grace@example.com' });
    expect(gift).toMatchObject({ customer_email: 'grace@example.com' });
    expect([gift?.['customer_name'], gift?.['customer_company']]).toEqual([undefined, undefined]);
    expect(gumroad?.({ ...sale, 'License Key Enabled?': '0' })).toMatchObject({ status: 'suspended' });
    expect(gumroad?.({ ...sale, 'Recurring Charge?': '1' })).toBe(null);
    expect(gumroad?.({ 'Purchase ID': 'Totals' })).toBe(null);
  });

  test('reads the licenses of the other services’ APIs', async () => {
    const page = (item: object, list = 'data') => write('page.json', JSON.stringify({ [list]: [item] }));
    const read = async (name: string, item: object, list?: string) =>
      PRESETS[name]?.((await records(page(item, list)))[0]?.fields ?? {});
    expect(
      await read('lemonsqueezy', {
        id: '1',
        attributes: {
          key: '80e15db5-c796-436b-850c-8f9c98a48abe',
          user_email: 'ada@example.com',
          user_name: 'Ada',
          product_id: 7,
          activation_limit: 5,
          disabled: 1,
          expires_at: '2027-05-24T14:15:07.000000Z',
          created_at: '2024-05-24T14:15:07.000000Z',
        },
      }),
    ).toEqual({
      license_key: '80e15db5-c796-436b-850c-8f9c98a48abe',
      customer_email: 'ada@example.com',
      customer_name: 'Ada',
      product: '7',
      expires_at: '2027-05-24',
      status: 'suspended',
      terms: { max_activations: 5 },
      metadata: { lemonsqueezy_id: '1' },
      created_at: '2024-05-24T14:15:07.000Z',
    });
    expect(
      await read('keygen', {
        id: 'k1',
        attributes: {
          key: 'C1B6DE',
          name: 'Orrery for Ada',
          expiry: null,
          status: 'ACTIVE',
          maxMachines: 2,
          metadata: { email: 'a@b.co', company: 'Engines', tags: [] },
        },
      }),
    ).toEqual({
      license_key: 'C1B6DE',
      customer_email: 'a@b.co',
      customer_company: 'Engines',
      expires_at: null,
      terms: { max_activations: 2 },
      metadata: { email: 'a@b.co', company: 'Engines', keygen_id: 'k1', keygen_name: 'Orrery for Ada' },
    });
    expect(
      await read(
        'polar',
        {
          id: 'p1',
          key: 'ORRERY_1',
          status: 'revoked',
          limit_activations: null,
          customer: { email: 'a@b.co' },
        },
        'items',
      ),
    ).toEqual({
      license_key: 'ORRERY_1',
      customer_email: 'a@b.co',
      expires_at: null,
      status: 'revoked',
      metadata: { polar_id: 'p1' },
    });
  });
});
