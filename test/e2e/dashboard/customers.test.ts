import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// The customers of one account. Each test continues where the previous test ended.

const JOSE = 'jose@example.com';

let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  ({ page, consoleErrors } = await visitAs(ada));
});

const rows = () => page.getByRole('table', { name: 'Customers' }).locator('tbody tr');

test('an account without licenses has no customers, and is told how to get one', async () => {
  await openPage(page, '/');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Customers' }).click();
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
  await page.getByText('No customers yet').waitFor();
  expect(new URL(page.url()).pathname).toBe('/customers');
});

test('a customer is found by a name without its accents', async () => {
  const { api_key } = await ada.addKey();
  await ada.putProduct('orrery', { terms: { max_activations: 3 } });
  const jose = { customer_email: JOSE, customer_name: 'José Müller', customer_company: 'Łódź Labs' };
  const { license_key } = await ada.addLicense({ ...jose, product: 'orrery' });
  await ada.addLicense({ ...jose, license_key: 'JOSES-SECOND-ONE' });
  await ada.addLicense({ customer_email: 'grace@example.com', customer_name: 'Grace Hopper' });
  await ada.activate(api_key, license_key, { fingerprint: 'machine-1', name: 'José’s laptop' });
  await openPage(page, '/customers');
  await expect.poll(() => rows().count()).toBe(2);
  await page.getByRole('searchbox', { name: 'Search customers' }).fill('lodz  jose');
  await expect.poll(() => rows().count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('q')).toBe('lodz  jose');
  await page.getByRole('link', { name: 'José Müller' }).click();
  await page.getByRole('heading', { level: 1, name: JOSE }).waitFor();
});

test('the page of a customer has their licenses and machines', async () => {
  await page.getByText('José Müller · Łódź Labs').waitFor();
  const licenses = page.getByRole('table', { name: 'Licenses' });
  await expect.poll(() => licenses.locator('tbody tr').count()).toBe(2);
  await page.getByText('1 of 3 seats').waitFor();
  await page.getByText('José’s laptop').waitFor();
  await page.getByRole('link', { name: 'Find these licenses' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('customer')).toBe(JOSE);
  await expect.poll(() => page.getByRole('table', { name: 'Licenses' }).locator('tbody tr').count()).toBe(2);
  await page.getByRole('button', { name: `Show all customers, not only ${JOSE}` }).click();
  await expect.poll(() => page.getByRole('table', { name: 'Licenses' }).locator('tbody tr').count()).toBe(3);
});

test('a customer is erased once their address is typed, and is in the list no longer', async () => {
  await openPage(page, `/customers/${JOSE}`);
  await page.getByRole('button', { name: 'Erase customer' }).click();
  const dialog = page.getByRole('alertdialog');
  expect(await axeViolations(page)).toEqual([]);
  await expect.poll(() => dialog.getByRole('button', { name: 'Erase customer' }).isDisabled()).toBe(true);
  await dialog.getByLabel(`Type ${JOSE} to confirm`).fill(JOSE);
  await dialog.getByRole('button', { name: 'Erase customer' }).click();
  await waitForToast(page, 'Customer erased');
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
  await expect.poll(() => rows().count()).toBe(1);
  await openPage(page, `/customers/${JOSE}`);
  await page.getByRole('heading', { name: 'Customer not found' }).waitFor();
  expect(consoleErrors).toEqual([]);
});
