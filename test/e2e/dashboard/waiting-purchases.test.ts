import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { storeBody } from '../../../src/stores/schemas.ts';
import { openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';
import { newShopSecret, report } from '../support/shop.ts';

// Purchases whose buyers have no license yet.

const SECRET = newShopSecret();

let ada: Customer;
let page: Page;
let store: ReturnType<typeof storeBody.parse>;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('orrery', { name: 'Orrery' });
  const added = await ada.post('/api/stores', { provider: 'generic', name: 'My shop', secret: SECRET });
  store = storeBody.parse(added);
  ({ page } = await visitAs(ada));
});

const sell = (order: string, fields: object) =>
  report(service, store.webhook_url, SECRET, { type: 'paid', order, ...fields });

test('a purchase that waits for something else than its payment can be tried again', async () => {
  await ada.put(`/api/stores/${store.id}/offers/orrery-club`, { product: 'orrery', grant: 'subscription' });
  expect(await sell('A-1001', { offer: 'orrery-club', email: 'mary@example.com' })).toBe(200);
  await openPage(page, '/purchases?q=A-1001');
  await page.getByRole('link', { name: 'mary@example.com' }).click();
  await page.getByText('Its offer is for a subscription').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
});

test('a purchase that waits for its payment can’t be tried again', async () => {
  expect(await sell('A-1002', { type: 'past_due' })).toBe(200);
  await openPage(page, '/purchases?q=A-1002');
  await page.getByRole('link', { name: 'Address not known yet' }).click();
  await page.getByText('The store hasn’t reported a payment yet').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
});

test('choosing a product announces no licenses where the purchase gets none', async () => {
  const tooMany = { email: 'linus@example.com', offer: 'unknown', quantity: 201 };
  expect(await sell('A-1003', tooMany)).toBe(200);
  await openPage(page, '/purchases?q=A-1003');
  await page.getByRole('link', { name: 'linus@example.com' }).click();
  await page.getByRole('button', { name: 'Choose product' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose product' });
  await dialog.getByLabel('Product', { exact: true }).selectOption('orrery');
  await dialog.getByRole('button', { name: 'Create licenses' }).click();
  await waitForToast(page, 'Product chosen');
  await page.getByText('It would create more licenses than a purchase may').waitFor();
});
