import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { isoDate } from '../../../src/shared/rules/dates.ts';
import { axeViolations, openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { downloadBy, service, visitAs } from '../support/dashboard.ts';

// The list of one account's licenses, by product, expiry and order. Each test continues where the previous test ended.

const YEARLY = 104;

let ada: Customer;
let page: Page;
let consoleErrors: string[];

const inDays = (days: number) => isoDate(Date.now() + days * 86_400_000);

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('yearly', { name: 'Yearly', terms: { max_activations: 2 } });
  await ada.putProduct('yearly-pro', { name: 'Yearly Pro' });
  await ada.addLicense({ license_key: 'PRO-LICENSE-1', product: 'yearly-pro', expires_at: inDays(3) });
  await ada.addLicense({ license_key: 'PRO-LICENSE-2', product: 'yearly-pro', expires_at: inDays(20) });
  for (let i = 1; i <= YEARLY; i++) {
    await ada.addLicense({
      license_key: `YEARLY-${String(i).padStart(3, '0')}`,
      product: 'yearly',
      customer_email: `customer-${String(1_000 - i)}@example.com`,
      customer_name: i === 7 ? '=cmd|calc;+1' : null,
    });
  }
  ({ page, consoleErrors } = await visitAs(ada));
});

const rows = () => page.getByRole('table', { name: 'Licenses' }).locator('tbody tr');
const select = (name: string) => page.getByRole('combobox', { name, exact: true });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const bar = () => page.getByRole('region', { name: 'Selected licenses' });
const parameters = () => Object.fromEntries(new URL(page.url()).searchParams);
const countOf = async (query: string) => {
  const { body } = await service.get(`/api/v1/licenses?limit=100&${query}`, {
    authorization: `Bearer ${ada.token}`,
  });
  return (body as { data: unknown[] }).data.length;
};

test('the page of a product leads to the licenses of no other product, whose code may begin alike', async () => {
  await openPage(page, '/products/yearly');
  await page.getByRole('link', { name: 'Find its licenses' }).click();
  await expect.poll(() => rows().count()).toBe(50);
  expect(parameters()).toEqual({ product: 'yearly' });
  await expect.poll(() => select('Filter by product').inputValue()).toBe('yearly');
  await page.getByRole('checkbox', { name: 'Select all licenses shown' }).check();
  await bar().getByRole('button', { name: 'Select all that match' }).click();
  await bar().getByText(`${YEARLY} licenses selected`).waitFor();
});

test('an action changes all that match, and Undo takes it back', async () => {
  await bar().getByRole('button', { name: 'Suspend' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: `Suspend ${YEARLY} licenses` }).click();
  await dialog.getByText(`${YEARLY} licenses suspended.`).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  expect(await countOf('product=yearly&status=active')).toBe(0);
  expect(await countOf('product=yearly-pro&status=active')).toBe(2);
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByText(`${YEARLY} licenses reinstated.`).waitFor();
  await expect.poll(() => dialog.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await countOf('status=suspended')).toBe(0);
});

test('filters and the order are in the URL, so that a reload keeps them and Back removes them', async () => {
  await openPage(page, '/licenses');
  await select('Filter by expiry').selectOption('Expires within 7 days');
  await expect.poll(() => rows().count()).toBe(1);
  await select('Filter by expiry').selectOption('Expires within 30 days');
  await select('Order').selectOption('Expires last');
  await expect.poll(() => rows().count()).toBe(2);
  expect(parameters()).toEqual({ expiry: 'next-30-days', sort: '-expires_at' });
  const keys = async () => (await rows().allInnerTexts()).map((text) => /PRO-LICENSE-\d/.exec(text)?.[0]);
  await expect.poll(keys).toEqual(['PRO-LICENSE-2', 'PRO-LICENSE-1']);
  await openPage(page, page.url());
  await expect.poll(keys).toEqual(['PRO-LICENSE-2', 'PRO-LICENSE-1']);
  await expect.poll(() => select('Filter by expiry').inputValue()).toBe('next-30-days');
  await select('Filter by product').selectOption('Yearly (yearly)');
  await page.getByText('No license matches').waitFor();
  await page.goBack();
  await expect.poll(keys).toEqual(['PRO-LICENSE-2', 'PRO-LICENSE-1']);
  await select('Filter by expiry').selectOption('Never expires');
  await expect.poll(() => rows().count()).toBe(50);
});

test('the list shows the seats that each license allows', async () => {
  await page.setViewportSize({ width: 1_440, height: 900 });
  await openPage(page, '/licenses?sort=expires_at');
  const seats = (key: string) => rows().filter({ hasText: key }).locator('td').nth(5).textContent();
  await expect.poll(() => seats('PRO-LICENSE-1')).toBe('No limit');
  await select('Filter by product').selectOption('Yearly (yearly)');
  await expect.poll(() => seats('YEARLY-001')).toBe('2');
});

test('exports everything that matches as a CSV file without formulas', async () => {
  await openPage(page, '/licenses?product=yearly&sort=customer_email');
  const { name, text } = await downloadBy(page, button('Export CSV'));
  expect(name).toMatch(/^licenses-\d{4}-\d\d-\d\d\.csv$/);
  const [header, ...lines] = text.trimEnd().split('\r\n');
  expect(header).toMatch(/^license_key,status,product,/);
  expect(lines).toHaveLength(YEARLY);
  // The newest license has the first address.
  expect(lines[0]).toMatch(/^YEARLY-104,/);
  expect(lines.find((line) => line.startsWith('YEARLY-007'))).toContain(`,'=cmd|calc;'+1,`);
});

test('a long address that narrows the list fits on a phone', async () => {
  await page.setViewportSize({ width: 375, height: 800 });
  const email = `${'grace.brewster.murray.hopper'.repeat(2)}@example.com`;
  await openPage(page, `/licenses?customer=${email}`);
  await page.getByText('No license matches').waitFor();
  expect(
    await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'),
  ).toBe(false);
  await page.getByRole('button', { name: `Show all customers, not only ${email}` }).click();
  await expect.poll(() => rows().count()).toBe(50);
  await page.setViewportSize({ width: 1_440, height: 900 });
});

test('sets the product of licenses, and Undo gives each back what it had', async () => {
  await openPage(page, '/licenses?q=license');
  await expect.poll(() => rows().count()).toBe(2);
  await page.getByRole('checkbox', { name: 'Select all licenses shown' }).check();
  await expect
    .poll(() =>
      bar()
        .getByRole('button', { name: /^Select all/ })
        .count(),
    )
    .toBe(0);
  await bar().getByRole('button', { name: 'Set product' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set product for licenses' });
  await dialog.getByLabel('Product').selectOption('yearly');
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Set product for 2 licenses' }).click();
  await dialog.getByText('2 licenses changed.').waitFor();
  expect(await countOf('product=yearly-pro')).toBe(0);
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByText('2 licenses changed back.').waitFor();
  expect(await countOf('product=yearly-pro')).toBe(2);
  expect(consoleErrors).toEqual([]);
});
