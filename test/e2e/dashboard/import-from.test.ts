import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { downloadBy, service, visitAs } from '../support/dashboard.ts';

// Imports files of other services and of a spreadsheet. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await service.put(
    '/api/v1/products/orrery-pro',
    { name: 'Orrery Pro', terms: { max_activations: 2 } },
    { authorization: `Bearer ${ada.token}` },
  );
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/licenses/import');
});

const choose = (name: string, text: string | Uint8Array) =>
  page.getByLabel(/Choose/).setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const figure = (name: string) =>
  page.locator('dl > div').filter({ hasText: name }).locator('dd').textContent();
const rows = async (name: string) =>
  (await page.getByRole('table', { name }).locator('tbody tr').allInnerTexts()).map((text) =>
    text.replace(/\s+/g, ' ').trim(),
  );
const licenses = async () =>
  (
    (await service.get('/api/v1/licenses?sort=customer_email', { authorization: `Bearer ${ada.token}` }))
      .body as {
      data: Record<string, unknown>[];
    }
  ).data;
/** Waits until the file is checked. */
const checkedFile = () => page.getByRole('heading', { name: 'What would happen' });
const importRows = async (name: string) => {
  await page.getByRole('button', { name }).click();
  await page.getByText('Import finished').waitFor();
};

/** A page reacts to its new size within two frames. */
const IS_TOO_WIDE = `
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  )`;

const sale = (key: string, fields: Record<string, string> = {}) => {
  const { email = 'ada@example.com', item = 'Orrery PRO', recurring = '0', refunded = '0' } = fields;
  return `p-${key},${item},"Lovelace, Ada",${email},2024-05-01,${refunded},${recurring},${key}`;
};
const SALES =
  'Purchase ID,Item Name,Buyer Name,Purchase Email,Purchase Date,Fully Refunded?,Recurring Charge?,License Key';

test('recognizes Gumroad’s sales, finds the product, and says all that is wrong with a row', async () => {
  const file = [
    SALES,
    sale('GUM-00000001'),
    sale('GUM-00000002', { email: 'grace@example.com', refunded: '1' }),
    sale('GUM-00000001', { recurring: '1' }),
    sale('short', { email: 'nobody' }),
    sale('GUM-00000003', { item: 'Sextant', email: 'zoe@example.com' }),
    'Totals',
  ];
  await choose('sales.csv', file.join('\n'));
  await checkedFile().waitFor();
  await expect.poll(() => page.getByLabel('Format').inputValue()).toBe('gumroad');
  await expect.poll(() => page.getByLabel('Orrery PRO, 3 rows').inputValue()).toBe('orrery-pro');
  const failed = await rows('Failed rows');
  expect(failed[0]).toMatch(/^5 .*Customer email: .*License key: /);
  expect(failed[1]).toMatch(/^6 Product: is not a product/);
  expect(failed.join()).not.toContain('Invalid Request');
  await expect.poll(() => page.getByText('1 row left out, because it has no license key.').count()).toBe(1);
  expect(await axeViolations(page)).toEqual([]);
});

test('maps a product that isn’t one, and imports', async () => {
  await page.getByLabel('Sextant, 1 row').selectOption({ label: 'No product' });
  await expect.poll(async () => (await rows('Failed rows')).length).toBe(1);
  await importRows('Import 3 rows');
  expect(await licenses()).toMatchObject([
    { license_key: 'GUM-00000001', product: 'orrery-pro', customer_name: 'Lovelace, Ada', status: 'active' },
    { license_key: 'GUM-00000002', status: 'suspended', metadata: { gumroad_purchase: 'p-GUM-00000002' } },
    { license_key: 'GUM-00000003', product: null },
  ]);
});

test('sends a file again that was imported, and changes nothing', async () => {
  await page.getByRole('button', { name: 'Import another file' }).click();
  await choose('sales.csv', [SALES, sale('GUM-00000001')].join('\n'));
  await page.getByText('The import would change nothing.').waitFor();
  await expect.poll(() => figure('Unchanged')).toBe('1');
});

test('reads a table of a German Excel, in its encoding and with its dates', async () => {
  const table = [
    'Lizenzschlüssel;E-Mail;Vorname;Nachname;Produkt;Gültig bis;Farbe',
    'XL-00000001;juergen@example.com;Jürgen;Müller;Orrery Pro;31.12.2099;rot',
    'XL-00000002;karin@example.com;Karin;"Groß; Dr.";Orrery Pro;nie;blau',
    'XL-00000003;leo@example.com;Leo;;Orrery Pro;bald;gelb',
    '',
  ];
  await choose('kunden.csv', Buffer.from(table.join('\r\n'), 'latin1'));
  await checkedFile().waitFor();
  await expect.poll(() => page.getByLabel('Encoding').inputValue()).toBe('windows-1252');
  await expect.poll(() => page.getByLabel('What Gültig bis becomes').inputValue()).toBe('expires_at');
  await expect.poll(() => page.getByLabel('Dates').count()).toBe(0);
  expect((await rows('First rows'))[0]).toBe(
    '2 created XL-00000001 juergen@example.com · Jürgen Müller · orrery-pro · 2099-12-31',
  );
  await page.getByLabel('What Farbe becomes').selectOption({ label: 'Metadata' });
  await expect.poll(() => figure('Created')).toBe('2');
  expect(await axeViolations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(IS_TOO_WIDE)).toBe(false);
  expect(await axeViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 1_280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  const { name, text } = await downloadBy(page, page.getByRole('button', { name: 'Download failed rows' }));
  expect(name).toBe('kunden.failed.csv');
  expect(text).toContain('\nXL-00000003;leo@example.com;Leo;;Orrery Pro;bald;gelb;');
  await importRows('Import 2 rows');
  await page.getByRole('button', { name: 'Import another file' }).click();
  await choose(name, text.replace(';bald;', ';30.11.2099;'));
  await checkedFile().waitFor();
  // What was chosen for the file is kept for the rest of it.
  await expect.poll(() => page.getByLabel('What Farbe becomes').inputValue()).toBe('metadata');
  await importRows('Import 1 row');
  expect((await licenses()).filter(({ license_key }) => String(license_key).startsWith('XL-'))).toMatchObject(
    [
      { customer_name: 'Jürgen Müller', expires_at: '2099-12-31', metadata: { Farbe: 'rot' } },
      { customer_name: 'Karin Groß; Dr.', expires_at: null },
      { customer_name: 'Leo', expires_at: '2099-11-30', metadata: { Farbe: 'gelb' } },
    ],
  );
});

test('asks what a date means only if it can be read in two ways', async () => {
  await openPage(page, '/licenses/import');
  await page.getByRole('button', { name: 'Paste rows instead' }).click();
  await page.getByLabel('Rows').fill('Key\tEmail\tExpires\nTAB-00000001\ttom@example.com\t03/04/2099\n');
  await page.getByRole('button', { name: 'Read the rows' }).click();
  await page.getByText('The file has dates that can be read in two ways.').waitFor();
  await expect.poll(() => checkedFile().count()).toBe(0);
  await page.getByLabel('Dates').selectOption('mdy');
  await checkedFile().waitFor();
  await expect
    .poll(() => rows('First rows'))
    .toEqual(['2 created TAB-00000001 tom@example.com · 2099-03-04']);
});

test('keeps what was chosen through a reload, for a file with the same columns', async () => {
  const table = 'Serial,Mail,Thing\nREAD-00000001,rita@example.com,Sextant\n';
  const read = async () => {
    await openPage(page, '/licenses/import');
    await choose('list.csv', table);
    await checkedFile().waitFor();
  };
  await read();
  await page.getByLabel('What Thing becomes').selectOption({ label: 'Product' });
  await page.getByLabel('Sextant, 1 row').selectOption('orrery-pro');
  const shown = '2 created READ-00000001 rita@example.com · orrery-pro';
  await expect.poll(() => rows('First rows')).toEqual([shown]);
  await read();
  await expect.poll(() => page.getByLabel('What Thing becomes').inputValue()).toBe('product');
  await expect.poll(() => rows('First rows')).toEqual([shown]);
});

test('recognizes Keygen’s licenses, and gives back those that fail', async () => {
  await openPage(page, '/licenses/import');
  const license = (id: number, attributes: object) => ({
    id: `k${id}`,
    type: 'licenses',
    attributes: {
      name: null,
      key: `KEYGEN-0000000${id}`,
      expiry: '2099-05-31T00:00:00.000Z',
      status: 'ACTIVE',
      suspended: false,
      maxMachines: 3,
      metadata: { email: `user${id}@example.com` },
      created: '2024-01-02T20:26:53.464Z',
      ...attributes,
    },
    relationships: { product: { data: { type: 'products', id: 'prod-1' } } },
  });
  const page1 = {
    data: [license(1, {}), license(2, { key: 'has spaces in it' }), license(3, { expiry: 'soon' })],
  };
  await choose('licenses.json', JSON.stringify(page1, null, 2));
  await checkedFile().waitFor();
  await expect.poll(() => page.getByLabel('Format').inputValue()).toBe('keygen');
  await page.getByLabel('prod-1, 2 rows').selectOption('orrery-pro');
  await expect.poll(() => figure('Created')).toBe('1');
  await expect
    .poll(() => rows('Failed rows'))
    .toEqual([
      expect.stringMatching(/^2 License key: /),
      expect.stringMatching(/^3 expiry: “soon” isn’t a date/),
    ]);
  const { name, text } = await downloadBy(page, page.getByRole('button', { name: 'Download failed rows' }));
  expect([
    name,
    text
      .trimEnd()
      .split('\n')
      .map((line) => Object.keys(JSON.parse(line)).at(-1)),
  ]).toEqual(['licenses.failed.ndjson', ['error', 'error']]);
  await importRows('Import 1 row');
  expect((await licenses()).find(({ license_key }) => license_key === 'KEYGEN-00000001')).toMatchObject({
    product: 'orrery-pro',
    customer_email: 'user1@example.com',
    expires_at: '2099-05-31',
    terms: { max_activations: 3 },
  });
});

test('goes on where it was stopped, and loses nothing', async () => {
  await openPage(page, '/licenses/import');
  const keys = Array.from({ length: 2_500 }, (_, i) => `STOP-${String(i).padStart(8, '0')}`);
  await choose(
    'many.csv',
    ['license_key,customer_email', ...keys.map((key) => `${key},many@example.com`)].join('\n'),
  );
  await checkedFile().waitFor();
  let parts = 0;
  await page.route('**/import?**', (route) =>
    parts++ === 1
      ? route.fulfill({
          status: 403,
          json: { error: { code: 'account_suspended', message: 'Stop.', request_id: 'r1' } },
        })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Import 2,500 rows' }).click();
  await page.getByText('2,000 rows of 2,500 rows done.').waitFor();
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('Stop.');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Import finished').waitFor();
  expect([await figure('Created'), await figure('Failed'), parts]).toEqual(['2,500', '0', 3]);
  expect(consoleErrors.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([]);
});
