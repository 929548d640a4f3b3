import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { downloadBy, service, visitAs } from '../support/dashboard.ts';

// Imports into one account. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.addLicense({ license_key: 'IMPORT-0', customer_name: 'Before' });
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/licenses');
});

const HEADER = 'license_key,customer_name,expires_at,metadata.seats';
const ROWS = 2_500;
const rowOf = (i: number) =>
  `IMPORT-${i},"Name ""${i}"",\r\nof two lines, ${'x'.repeat(120)}",2099-01-01,${i}`;
/** Larger than a part. Lines 11 and 20 fail. */
const csv = () => {
  const rows = Array.from({ length: ROWS }, (_, i) => rowOf(i));
  rows[9] = 'IMPORT-bad-date,Nobody,tomorrow,1';
  rows[10] = 'no,Short,2099-01-01,1';
  return `\uFEFF${[HEADER, ...rows].join('\r\n')}\r\n`;
};

const choose = (name: string, text: string) =>
  page.getByLabel(/Choose/).setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const figure = (name: string) =>
  page.locator('dl > div').filter({ hasText: name }).locator('dd').textContent();
const figures = async () =>
  Object.fromEntries(
    await Promise.all(
      ['Created', 'Updated', 'Unchanged', 'Failed'].map(async (name) => [name, await figure(name)]),
    ),
  );

test('a file of another kind is refused', async () => {
  await page.getByRole('link', { name: 'Import', exact: true }).click();
  await choose('licenses.xlsx', 'PK');
  await page.getByText('This isn’t a text file.').waitFor();
  expect(await axeViolations(page)).toEqual([]);
});

test('a dry run of every part shows what would happen, and changes nothing', async () => {
  await choose('licenses.csv', csv());
  await page.getByText('What would happen').waitFor();
  await expect.poll(figures).toEqual({ Created: '2,497', Updated: '0', Unchanged: '0', Failed: '3' });
  await page
    .getByLabel('If a license with the same key exists')
    .selectOption({ label: 'Update the license' });
  await expect.poll(figures).toEqual({ Created: '2,497', Updated: '1', Unchanged: '0', Failed: '2' });
  expect(await axeViolations(page)).toEqual([]);
  const failed = page.getByRole('table', { name: 'Failed rows' }).locator('tbody tr');
  await expect
    .poll(() => failed.allInnerTexts())
    .toEqual([expect.stringMatching(/^20\s.*Expires at: /s), expect.stringMatching(/^21\s.*License key: /s)]);
  expect((await service.get('/api/dashboard', { authorization: `Bearer ${ada.token}` })).body).toMatchObject({
    licenses: { total: 1 },
  });
});

test('the failed lines come back as a file, and can be imported when they are corrected', async () => {
  const { name, text } = await downloadBy(page, page.getByRole('button', { name: 'Download failed rows' }));
  const [header, ...rows] = text.split('\n');
  expect([name, header]).toEqual(['licenses.failed.csv', `${HEADER},copy,error`]);
  expect(rows).toEqual([
    expect.stringMatching(/^IMPORT-bad-date,Nobody,tomorrow,1,,"?Expires at: /),
    expect.stringMatching(/^no,Short,2099-01-01,1,,"?License key: /),
    '',
  ]);
});

test('the import shows its progress, survives a lost answer, and its licenses are there', async () => {
  let parts = 0;
  await page.route('**/import?**', async (route) => {
    if (parts++ !== 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await page.getByRole('button', { name: 'Import 2,498 rows' }).click();
  await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
  await page.getByText('Import finished').waitFor();
  expect(parts).toBeGreaterThan(2);
  await expect.poll(() => figure('Failed')).toBe('2');
  await page.getByRole('link', { name: 'View licenses' }).click();
  await page.getByRole('searchbox').fill('IMPORT-2499');
  await expect.poll(() => page.getByRole('table').textContent()).toContain('IMPORT-2499');
  expect(consoleErrors.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([]);
});

test('the export of an account can be imported as it is', async () => {
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('menuitem', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Export' }).click();
  const { name, text } = await downloadBy(page, page.getByRole('button', { name: 'Download export' }));
  expect(name).toMatch(/^latchkey-\d{4}-\d\d-\d\d\.ndjson$/);
  expect(text.trimEnd().split('\n').at(-1)).toMatch(/^\{"type":"end"/);
  await openPage(page, '/licenses/import');
  await choose(name, text);
  await page.getByText('The import would change nothing.').waitFor();
  await expect.poll(figures).toMatchObject({ Created: '0', Failed: '0', Unchanged: '2,498' });
});

test('the dry run of another account’s export counts its machines, whose licenses are in an earlier part', async () => {
  await openPage(page, '/licenses/import');
  const keys = Array.from({ length: 400 }, (_, i) => `OTHER-KEY-${i}`);
  const licenses = keys.map((license_key) =>
    JSON.stringify({ type: 'license', license_key, metadata: { note: 'x'.repeat(3_000) } }),
  );
  const machine = { type: 'activation', fingerprint: 'machine-0001', activated_at: '2026-01-01T00:00:00Z' };
  const machines = [...keys, 'NO-SUCH-KEY'].map((license_key) => JSON.stringify({ ...machine, license_key }));
  await choose('export.ndjson', [...licenses, ...machines].join('\n'));
  await page.getByText('What would happen').waitFor();
  await expect.poll(figures).toMatchObject({ Created: '800', Failed: '1' });
});

test('numbers equal lines without a key over all parts of a file', async () => {
  let bodies: string[] = [];
  const totals = { lines: 0, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
  await page.route('**/import?**', (route) => {
    bodies.push(route.request().postData() ?? '');
    return route.fulfill({
      contentType: 'application/x-ndjson',
      body: `${JSON.stringify({ totals, next_cursor: null })}\n`,
    });
  });
  const keys = Array.from({ length: 1_100 }, (_, i) => `KEY-${i}${'x'.repeat(1_000)}`);
  const sentFor = async (name: string, lines: string[]) => {
    bodies = [];
    await choose(name, lines.join('\n'));
    await page.getByText('The import would change nothing.').waitFor();
    expect(bodies.length).toBeGreaterThan(1);
    const sent = bodies.map((body) => body.trimEnd().split('\n'));
    return [sent[0]?.slice(0, 3).map((line) => line.slice(0, 50)), sent.at(-1)?.at(-1)];
  };
  // A row that can't be read isn't sent.
  const table = ['customer_email,license_key', 'ada@example.com', 'a,b,c', ...keys.map((key) => `,${key}`)];
  expect(await sentFor('keyless.csv', [...table, 'ADA@example.com,'])).toEqual([
    [
      '{"customer_email":"ada@example.com","copy":1}',
      `{"license_key":"${keys[0]?.slice(0, 34)}`,
      `{"license_key":"${keys[1]?.slice(0, 34)}`,
    ],
    '{"customer_email":"ADA@example.com","copy":2}',
  ]);
  const json = keys.map((license_key) => JSON.stringify({ license_key }));
  const line = '{"customer_email":"ada@example.com"}';
  expect((await sentFor('keyless.ndjson', [line, ...json, line]))[1]).toBe(
    '{"customer_email":"ada@example.com","copy":2}',
  );
});

test('says which corrected rows create nothing, because they could be meant as further licenses', async () => {
  await page.unroute('**/import?**');
  const row = 'ada@example.com,1,Unknown Product';
  await choose('old.failed.csv', `customer_email,copy,error\n${row}\n${row}\n`);
  await page.getByText('1 row without a license key created no license').waitFor();
  await expect.poll(figures).toMatchObject({ Created: '1', Unchanged: '1' });
  expect(await axeViolations(page)).toEqual([]);
});
