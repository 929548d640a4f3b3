import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { createAccount } from '../support/customer.ts';
import { service, visitAs, withClipboard } from '../support/dashboard.ts';

let page: Page;
let revokedKey: string;

beforeAll(async () => {
  const ada = await createAccount(service, 'ada');
  ({ page } = await visitAs(ada));
  const revoked = await ada.addLicense({ product: 'Orrery' });
  revokedKey = revoked.license_key;
  await ada.post(`/api/v1/licenses/${revoked.id}/revoke`, {});
  for (let i = 0; i < 55; i++) {
    await ada.addLicense({
      customer_email: `customer-${i}@example.com`,
      product: i % 2 ? 'Orrery' : 'Tidewater',
    });
  }
  await openPage(page, '/licenses');
});

const rows = () => page.getByRole('table', { name: 'Licenses' }).locator('tbody tr');

describe('the license list', () => {
  const showRevoked = async () => {
    await page
      .getByRole('group', { name: 'State' })
      .getByRole('button', { name: /^Revoked/ })
      .click();
    await expect.poll(() => rows().count()).toBe(1);
  };

  test('shows 50 licenses, and more on request', async () => {
    await expect.poll(() => rows().count()).toBe(50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows().count()).toBe(56);
  });

  test('a search that is typed doesn’t bring back whoever leaves the page at once', async () => {
    const leaving = await page.context().newPage();
    await openPage(leaving, '/licenses');
    // The next page loads for longer than the typing pauses.
    await leaving.route('**/webhooks-*.js', async (route) => {
      await delay(600);
      await route.continue();
    });
    await leaving.getByRole('searchbox', { name: 'Search licenses' }).fill('customer-17@');
    await leaving.getByRole('link', { name: 'Webhooks' }).click();
    await leaving.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await delay(300);
    expect(new URL(leaving.url()).pathname).toBe('/webhooks');
    await leaving.close();
  });

  test('filters as the user types and keeps the search in the URL', async () => {
    await page.getByRole('searchbox', { name: 'Search licenses' }).pressSequentially('customer-17@');
    // One row also matches without the last character, while the page still waits for more of them.
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('customer-17@');
    await expect.poll(() => rows().count()).toBe(1);
    const other = await page.context().newPage();
    await openPage(other, page.url());
    await expect.poll(() => other.getByRole('searchbox').inputValue()).toBe('customer-17@');
    await expect.poll(() => other.getByRole('table').textContent()).toContain('customer-17@example.com');
    await other.close();
  });

  test('shows an empty state when nothing matches, with a button that clears the search', async () => {
    await page.getByRole('searchbox').fill('no such text');
    await page
      .getByRole('main')
      .getByText(/no license/i)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Clear search' }).last().click();
    await expect.poll(() => rows().count()).toBeGreaterThan(40);
  });

  test('filters by status, and the Back button removes the filter', async () => {
    await showRevoked();
    await expect.poll(() => rows().textContent()).toContain(revokedKey);
    await page.goBack();
    await expect.poll(() => rows().count()).toBeGreaterThan(40);
  });

  test('copies a license key to the clipboard', async () => {
    await showRevoked();
    await withClipboard(async () => {
      await page.getByRole('button', { name: 'Copy license key' }).click();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(revokedKey);
    });
  });

  test('the command palette finds a license from any page', async () => {
    await openPage(page, '/billing');
    await page.keyboard.press('ControlOrMeta+k');
    await page
      .getByRole('combobox', { name: 'Search pages, actions, licenses, products, and webhooks' })
      .fill('customer-42@');
    await page.getByRole('option', { name: /customer-42@example\.com/ }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('main').textContent()).toContain('customer-42@example.com');
    expect(new URL(page.url()).pathname).toMatch(/^\/licenses\/lic_/);
  });
});
