import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// What happens to work that somebody leaves, and to what is shown only once.

let ada: Customer;
let page: Page;
let storeId: string;
let webhookId: string;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  for (let i = 6; i > 0; i--) await ada.addLicense({ license_key: `LEAVE-${i}-LICENSE` });
  await ada.addLicense({ license_key: 'ERASED-LICENSE', customer_email: 'grace@example.com' });
  await ada.putProduct('orrery');
  const store = await ada.post('/api/stores', { provider: 'gumroad', name: 'Shop', api_key: 'token' });
  storeId = (store as { id: string }).id;
  webhookId = (await ada.addWebhook({ url: 'http://127.0.0.1:9/hooks' })).id;
  ({ page, consoleErrors } = await visitAs(ada));
});

const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

test('a URL that isn’t shown again is closed by its own button only', async () => {
  await openPage(page, `/stores/${storeId}`);
  await press('Edit');
  await page.getByLabel('Create another webhook URL').check();
  await press('Save changes');
  const dialog = page.getByRole('dialog', { name: 'New webhook URL' });
  await dialog.locator('[data-secret]').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('the page logs no errors to the console except for failed requests', () => {
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
