import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage, waitForToast } from '../support/browser.ts';
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
  await dialog.getByText('Use letters, digits, dots, hyphens, and underscores').waitFor();
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
  await waitForToast(page, 'Product saved');
  await openPage(page, '/products/orrery-studio');
  await expect.poll(() => page.getByLabel('Seat lease').inputValue()).toBe('90');
  await expect.poll(() => page.getByLabel('Unit').inputValue()).toBe('minutes');
  await expect.poll(() => page.getByLabel('Entitlement value').inputValue()).toBe('25');

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
  await expect.poll(() => rows.filter({ hasText: 'Fan of' }).count()).toBe(0);
  await page.getByLabel('Filter by product').selectOption('All products');
  await rows.filter({ hasText: 'Fan of' }).waitFor();
});

test('the home page shows the calls of the product, and links to it', async () => {
  await openPage(page, '/');
  const product = page.getByRole('region', { name: 'Usage by product' }).getByRole('link');
  await expect.poll(() => product.textContent()).toBe('Orrery Studio1');
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
  await expect
    .poll(() => row.textContent())
    .toContain('2 seats · floating, 90 minutes · 7 days offline · 1 entitlement');
  await button('Create product').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code').fill('..');
  await dialog.getByRole('button', { name: 'Create product' }).click();
  await dialog.getByText('Use letters, digits, dots, hyphens, and underscores').waitFor();
  await dialog.getByLabel('Code').fill('orrery-studio');
  await dialog.getByRole('button', { name: 'Create product' }).click();
  await dialog.getByText('One of your products already has this code').waitFor();
});

const dialog = () => page.getByRole('dialog', { name: 'Create license' });
const createdLicense = async () => {
  await dialog().getByRole('button', { name: 'Create license' }).click();
  const key = (await page.locator('[data-secret]').textContent()) ?? '';
  await button('Create another').click();
  const { body } = await service.get(`/api/v1/licenses?q=${key}`, { authorization: `Bearer ${ada.token}` });
  return (body as { data: { product: string | null; expires_at: string | null }[] }).data[0];
};
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test('a new license begins with its product’s terms, and only another choice beats them', async () => {
  await ada.putProduct('yearly', { name: 'Yearly', terms: { max_activations: 2, duration_days: 365 } });
  await openPage(page, '/licenses?create=true');
  const expires = () => dialog().getByLabel('Expires');
  await expect
    .poll(() => expires().locator('option').allTextContents())
    .toEqual(['Never', 'On a date', 'After a number of days']);
  await dialog().getByLabel('Product').selectOption('yearly');
  await dialog().getByText('2 seats · 14 days offline.').waitFor();
  await dialog()
    .getByText(/^Until .*, UTC\.$/)
    .waitFor();
  await expect
    .poll(() => expires().locator('option:checked').textContent())
    .toBe('From the product: 365 days');
  expect(await createdLicense()).toMatchObject({ product: 'yearly', expires_at: inDays(365) });

  await dialog().getByLabel('Product').selectOption('yearly');
  await expires().selectOption('Never');
  expect(await createdLicense()).toMatchObject({ product: 'yearly', expires_at: null });

  await dialog().getByLabel('Product').selectOption('yearly');
  await expires().selectOption('After a number of days');
  await dialog().getByLabel('Days', { exact: true }).fill('30');
  expect(await createdLicense()).toMatchObject({ product: 'yearly', expires_at: inDays(30) });
});

test('the form of a license leads to a new product, and chooses it', async () => {
  await openPage(page, '/licenses?create=true');
  await dialog().getByLabel('Product').selectOption('Create product…');
  const form = page.getByRole('dialog', { name: 'Create product' });
  await form.getByLabel('Code').fill('made-here');
  await form.getByLabel('Seats').fill('5');
  await form.getByLabel('Duration in days').fill('90');
  await form.getByRole('button', { name: 'Create product' }).click();
  await expect.poll(() => dialog().getByLabel('Product').inputValue()).toBe('made-here');
  await dialog().getByText('5 seats · 14 days offline.').waitFor();
  expect(await createdLicense()).toMatchObject({ product: 'made-here', expires_at: inDays(90) });
});

test('a label that is no product stays until a product is chosen', async () => {
  const bob = await createAccount(service, 'bob');
  const { id } = await bob.addLicense({ product: 'Old label' });
  await bob.putProduct('orrery', { name: 'Orrery' });
  const { page: own } = await visitAs(bob);
  await openPage(own, `/licenses/${id}`);
  const edit = async (change: () => Promise<unknown>) => {
    await own.getByRole('button', { name: 'Edit', exact: true }).click();
    await change();
    await own.getByRole('button', { name: 'Save changes' }).click();
    await own.getByRole('dialog', { name: 'Edit license' }).waitFor({ state: 'detached' });
  };
  const choice = own.getByLabel('Product', { exact: true });
  const productOf = async () => {
    const { body } = await service.get(`/api/v1/licenses/${id}`, { authorization: `Bearer ${bob.token}` });
    return (body as { product: string | null }).product;
  };
  await edit(async () => {
    await expect
      .poll(() => choice.locator('option:checked').textContent())
      .toBe('Old label (a label, not a product)');
    await own.getByLabel('Customer name').fill('Grace');
  });
  expect(await productOf()).toBe('Old label');
  await edit(() => choice.selectOption('orrery'));
  expect(await productOf()).toBe('orrery');
  await own.close();
});

test('with many products, the field has a search', async () => {
  const bob = await createAccount(service, 'bob');
  for (let i = 10; i < 24; i++) await bob.putProduct(`part-${i}`, { name: `Part ${i}` });
  const { page: own } = await visitAs(bob);
  await openPage(own, '/licenses?create=true');
  await own.getByLabel('Find a product').fill('part 17');
  await own.getByText('1 found.').waitFor();
  await own.getByLabel('Find a product').press('Enter');
  await expect.poll(() => own.getByLabel('Product', { exact: true }).inputValue()).toBe('part-17');
  await own.close();
});

test('a product that a license names can’t be deleted, and the dialog says why', async () => {
  await ada.putProduct('unused');
  const { id } = await ada.addLicense({ product: 'unused' });
  await openPage(page, '/products/unused');
  await button('Delete').click();
  await button('Delete product').click();
  await page.getByRole('alert').getByText('Licenses still name this product').waitFor();
  await ada.patchLicense(id, { product: null });
  await button('Delete product').click();
  await waitForToast(page, 'Product deleted');
  await page.getByRole('heading', { level: 1, name: 'Products' }).waitFor();
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'unused' }).count()).toBe(0);
});

test('the URL of an unknown product shows “Product not found”', async () => {
  await page.goto('/products/no-such-product');
  await page.getByRole('heading', { name: 'Product not found' }).waitFor();
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
