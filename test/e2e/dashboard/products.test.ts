import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// The products of one account. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/products');
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const example = () => page.getByRole('region', { name: 'example answer' }).textContent();

test('an account without products sees an empty state, and a code with spaces is refused at its field', async () => {
  await page.getByText('No products yet').waitFor();
  await button('Create product').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code').fill('orrery studio');
  await dialog.getByRole('button', { name: 'Create product' }).click();
  await dialog.getByText('Use letters, digits, dots, hyphens and underscores').waitFor();
  await dialog.getByLabel('Code').fill('orrery-studio');
  await dialog.getByLabel('Name').fill('Orrery Studio');
  await dialog.getByRole('button', { name: 'Create product' }).click();
  await page.getByRole('heading', { level: 1, name: 'Orrery Studio' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/products/orrery-studio');
});

test('the preview follows the terms while they are edited', async () => {
  await page.getByLabel('Seats', { exact: true }).fill('2');
  await page.getByLabel('Seat lease').fill('90');
  await page.getByLabel('Unit').selectOption('minutes');
  await page.getByLabel('Days offline').fill('7');
  await page.getByLabel('Customers may replace a machine themselves').check();
  await button('Add entitlement').click();
  await page.getByLabel('Entitlement name').fill('projects');
  await page.getByLabel('Entitlement type').selectOption('number');
  await page.getByText('Complete the terms to see an example.').waitFor();
  await page.getByLabel('Entitlement value').fill('25');
  const told = JSON.parse((await example()) ?? '') as object;
  expect(told).toMatchObject({ code: 'valid', entitlements: { projects: 25 }, seats: { used: 1, limit: 2 } });
  await button('All seats taken').click();
  expect(JSON.parse((await example()) ?? '')).toMatchObject({
    valid: false,
    code: 'no_seat',
    seats: { used: 2, limit: 2 },
    machines: [{ platform: 'macOS' }],
  });
  const application = page.getByRole('region', { name: 'application snippet' });
  await expect.poll(() => application.textContent()).toMatch(/kid: '[\w-]{43}'[^]*product: 'orrery-studio'/);
});

test('saved terms apply to the product’s licenses and are shown again', async () => {
  await page.getByLabel('Seats', { exact: true }).fill('0');
  await button('Save changes').click();
  await page.getByText('Enter a whole number from 1 to 100,000').waitFor();
  await page.getByLabel('Seats', { exact: true }).fill('2');
  await button('Save changes').click();
  await page.getByText('Product saved').waitFor();
  await openPage(page, '/products/orrery-studio');
  expect(await page.getByLabel('Seat lease').inputValue()).toBe('90');
  expect(await page.getByLabel('Unit').inputValue()).toBe('minutes');
  expect(await page.getByLabel('Entitlement value').inputValue()).toBe('25');

  const { license_key } = await ada.addLicense({ product: 'orrery-studio' });
  const { api_key } = await ada.addKey();
  expect(await ada.activate(api_key, license_key, { fingerprint: 'machine-1' })).toMatchObject({
    code: 'valid',
    entitlements: { projects: 25 },
    seats: { used: 1, limit: 2 },
    activation: { lease_until: expect.any(String) as string },
  });
});

test('the page of a product leads to its licenses alone, and from there to all licenses', async () => {
  await ada.addLicense({ customer_name: 'Fan of orrery-studio' });
  await openPage(page, '/products/orrery-studio');
  await page.getByRole('link', { name: 'Find its licenses' }).click();
  const rows = page.getByRole('table', { name: 'Licenses' }).getByRole('row');
  await rows.filter({ hasText: 'orrery-studio' }).waitFor();
  expect(await rows.filter({ hasText: 'Fan of' }).count()).toBe(0);
  await button('Show all products, not only orrery-studio').click();
  await rows.filter({ hasText: 'Fan of' }).waitFor();
});

test('the home page shows the calls of the product, and links to it', async () => {
  await openPage(page, '/');
  const product = page.getByRole('region', { name: 'Usage by product' }).getByRole('link');
  expect(await product.textContent()).toBe('Orrery Studio1');
  await product.click();
  await page.getByRole('heading', { level: 1, name: 'Orrery Studio' }).waitFor();
});

test('the command palette finds the product by its name and by its code', async () => {
  await openPage(page, '/billing');
  await page.keyboard.press('ControlOrMeta+k');
  for (const typed of ['orrery st', 'orrery-st']) {
    await page.getByRole('combobox').fill(typed);
    const found = page.getByRole('group', { name: 'Products' }).getByRole('option');
    await expect.poll(() => found.allTextContents()).toEqual(['Orrery Studioorrery-studio']);
  }
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Orrery Studio' }).waitFor();
});

test('the list sums up the terms, and a code that is taken or that no URL can have is refused', async () => {
  await openPage(page, '/products');
  const row = page.getByRole('row').filter({ hasText: 'orrery-studio' });
  expect(await row.textContent()).toContain(
    '2 seats · floating, 90 minutes · 7 days offline · 1 entitlement',
  );
  await button('Create product').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code').fill('..');
  await dialog.getByRole('button', { name: 'Create product' }).click();
  await dialog.getByText('Use letters, digits, dots, hyphens and underscores').waitFor();
  await dialog.getByLabel('Code').fill('orrery-studio');
  await dialog.getByRole('button', { name: 'Create product' }).click();
  await dialog.getByText('One of your products already has this code').waitFor();
});

test('the form of a new license suggests the product’s code', async () => {
  await openPage(page, '/licenses?create=true');
  const suggested = `[...document.querySelectorAll('datalist option')].map(({ value }) => value)`;
  await expect.poll(() => page.evaluate(suggested)).toEqual(['orrery-studio']);
});

test('a product that a license names can’t be deleted, and the dialog says why', async () => {
  const { id } = await ada.addLicense({ product: 'unused' });
  await ada.putProduct('unused');
  await openPage(page, '/products/unused');
  await button('Delete').click();
  await button('Delete product').click();
  await page.getByRole('alert').getByText('Licenses still name this product').waitFor();
  await ada.patchLicense(id, { product: null });
  await button('Delete product').click();
  await page.getByText('Product deleted').waitFor();
  await page.getByRole('heading', { level: 1, name: 'Products' }).waitFor();
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'unused' }).count()).toBe(0);
});

test('the URL of an unknown product shows “Product not found”', async () => {
  await page.goto('/products/no-such-product');
  await page.getByRole('heading', { name: 'Product not found' }).waitFor();
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
