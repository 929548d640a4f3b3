import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';
import { newShopSecret, report } from '../support/shop.ts';

// A seller connects a shop. Each test continues where the previous test ended.

const SECRET = newShopSecret();

let ada: Customer;
let page: Page;
let consoleErrors: string[];
let webhookUrl: string;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('orrery', { name: 'Orrery', terms: { max_activations: 2 } });
  ({ page, consoleErrors } = await visitAs(ada));
});

const sell = (order: string, fields: object = {}) =>
  report(service, webhookUrl, SECRET, {
    type: 'paid',
    order,
    offer: 'orrery-yearly',
    email: 'grace@example.com',
    ...fields,
  });

test('an account without stores is told which ones it can connect', async () => {
  await openPage(page, '/');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Purchases' }).click();
  await page.getByText('No purchases yet').waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Stores' }).click();
  await page.getByText('No stores yet').waitFor();
  await openPage(page, '/');
  await page.getByRole('button', { name: 'Connect your store' }).click();
  await page.getByRole('link', { name: 'Add a store' }).click();
  await page.getByRole('dialog', { name: 'Add store' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/stores');
});

test('a store is connected with its secret, and shows the URL to enter there', async () => {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Where you sell').selectOption('generic');
  await dialog.getByLabel('Name').fill('My shop');
  await dialog.getByLabel('Secret').fill(SECRET);
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add store' }).click();
  await page.getByRole('heading', { name: 'Store added' }).waitFor();
  webhookUrl = (await dialog.locator('[data-secret]').textContent()) ?? '';
  expect(webhookUrl).toMatch(/\/hooks\/sto_\w+$/);
  await dialog.getByRole('link', { name: 'Open store' }).click();
  await page.getByRole('heading', { level: 1, name: 'My shop' }).waitFor();
  await page.getByText('Waiting for the first event').waitFor();
  expect(await page.content()).not.toContain(SECRET);
});

test('the first steps offer no store once there is one', async () => {
  const { page: home } = await visitAs(ada);
  await openPage(home, '/');
  await home.getByText('Create an API key').waitFor();
  await expect.poll(() => home.getByText('Connect your store').count()).toBe(0);
});

test('the first event is shown as it arrives, and a purchase that no offer is for waits', async () => {
  expect(await sell('A-1001')).toBe(200);
  await page.getByText('Connected').waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Purchases' }).click();
  await page.getByRole('link', { name: 'grace@example.com' }).click();
  await page.getByRole('heading', { level: 1, name: 'A-1001' }).waitFor();
  await page.getByText('No offer says which product it is').waitFor();
  expect(await axeViolations(page)).toEqual([]);
});

test('an offer is saved with a preview, and makes the license of the purchase that waited', async () => {
  await page.getByRole('link', { name: 'Add offer' }).click();
  await page.getByRole('button', { name: 'Add offer' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add offer' });
  await dialog.getByLabel('Store’s ID').fill('orrery-yearly');
  await dialog.getByLabel('Product', { exact: true }).selectOption('orrery');
  await dialog.getByLabel('Buyer gets').selectOption('days');
  await dialog.getByLabel('Days').fill('30');
  await dialog.getByText('creates a license for orrery that is valid for 30 days').waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save offer' }).click();
  await waitForToast(page, 'Offer saved');
  await page.getByRole('table', { name: 'Offers' }).getByText('30 days').waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Purchases' }).click();
  await page.getByRole('table', { name: 'Purchases' }).getByText('Fulfilled').waitFor();
});

test('a new offer replaces none that the store has', async () => {
  const { page: other } = await visitAs(ada);
  await openPage(other, '/stores');
  await other.getByRole('link', { name: 'My shop' }).click();
  await other.getByRole('button', { name: 'Add offer' }).click();
  const dialog = other.getByRole('dialog', { name: 'Add offer' });
  await dialog.getByLabel('Store’s ID').fill('orrery-yearly');
  await dialog.getByLabel('Product', { exact: true }).selectOption('orrery');
  await dialog.getByRole('button', { name: 'Save offer' }).click();
  await dialog.getByText('This store already has an offer with this ID').waitFor();
  await openPage(other, new URL(other.url()).pathname);
  const offers = other.getByRole('table', { name: 'Offers' });
  await expect.poll(() => offers.textContent()).toContain('30 days');
});

test('the home page leads from what happened to a purchase to the purchase', async () => {
  const { page: home } = await visitAs(ada);
  await openPage(home, '/');
  const events = home.getByRole('listitem');
  const fulfilled = events.filter({ hasText: 'Purchase fulfilled' });
  await fulfilled.getByRole('link', { name: 'A-1001' }).click();
  await home.getByRole('heading', { level: 1, name: 'A-1001' }).waitFor();
  expect(new URL(home.url()).pathname).toMatch(/^\/purchases\/pur_\w+$/);
});

test('a purchase shows what the store has said, its licenses, and its email', async () => {
  await page.getByRole('link', { name: 'grace@example.com' }).click();
  await page.getByRole('table', { name: 'Licenses' }).getByText('Active').waitFor();
  await page.getByRole('region', { name: 'What the store has said' }).getByText('Paid').waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await waitForToast(page, 'Email queued');
  expect(await axeViolations(page)).toEqual([]);
});

test('an email that won’t be sent doesn’t say that it waits', async () => {
  await page.route('**/api/purchases/*', async (route) => {
    const response = await route.fetch();
    const unsent = { status: 'not_sent', due_at: null, sent_at: null };
    const mails = ['nothing_to_send', 'not_delivered'].map((problem) => ({ ...unsent, problem }));
    return route.fulfill({ response, json: { ...(await response.json()), mails } });
  });
  await page.reload();
  for (const text of ['None of its licenses is valid anymore', 'was given up after eight tries']) {
    const mail = page.getByRole('listitem').filter({ hasText: text });
    await expect.poll(() => mail.textContent()).toContain('Not sent');
  }
  await page.unroute('**/api/purchases/*');
});

test('the list of customers has how many purchases each has, and the page of one has them', async () => {
  await openPage(page, '/customers');
  const cells = page.getByRole('row').filter({ hasText: 'grace@example.com' }).getByRole('cell');
  await expect.poll(() => cells.nth(3).textContent()).toBe('1');
  await openPage(page, '/customers/grace@example.com');
  const purchases = page.getByRole('table', { name: 'Purchases' });
  await purchases.getByText('A-1001').waitFor();
  await expect.poll(() => purchases.locator('tbody tr').count()).toBe(1);
});

test('purchases are found by their status, address, and order number, which the URL keeps', async () => {
  expect(await sell('A-1002', { email: 'alan@example.com', offer: 'unknown' })).toBe(200);
  await openPage(page, '/purchases');
  const rows = page.getByRole('table', { name: 'Purchases' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByLabel('Status', { exact: true }).selectOption('unmapped');
  await expect.poll(() => rows.count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('status')).toBe('unmapped');
  await page.getByRole('link', { name: 'alan@example.com' }).waitFor();
  await openPage(page, '/purchases?q=A-1001');
  await page.getByRole('link', { name: 'grace@example.com' }).waitFor();
  await expect.poll(() => rows.count()).toBe(1);
});

test('the button of a list without a match clears the search and the status', async () => {
  await page.getByLabel('Status', { exact: true }).selectOption('refunded');
  await page.getByText('No purchase matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  const rows = page.getByRole('table', { name: 'Purchases' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  expect(new URL(page.url()).search).toBe('');
  await expect.poll(() => page.getByLabel('Search purchases').inputValue()).toBe('');
});

test('a purchase that waits gets a product of its own', async () => {
  await openPage(page, '/purchases?q=alan@example.com');
  await page.getByRole('link', { name: 'alan@example.com' }).click();
  await page.getByRole('button', { name: 'Choose product' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose product' });
  await dialog.getByLabel('Product', { exact: true }).selectOption('orrery');
  await dialog.getByRole('button', { name: 'Create licenses' }).click();
  const licenses = page.getByRole('table', { name: 'Licenses' });
  await licenses.getByText('Active').waitFor();
  await expect.poll(() => licenses.locator('tbody tr').count()).toBe(1);
});

test('the page of a store whose URL isn’t shown again offers no URL without its token', async () => {
  const alan = await createAccount(service, 'alan');
  const store = await alan.post('/api/stores', { provider: 'gumroad', name: 'Shop', api_key: 'token' });
  const { page: other } = await visitAs(alan);
  await openPage(other, `/stores/${(store as { id: string }).id}`);
  await other.getByText('“Create another webhook URL”').waitFor();
  expect(await other.content()).not.toContain('/hooks/');
  await other.getByRole('button', { name: 'Edit', exact: true }).click();
  await other.getByLabel('Create another webhook URL').waitFor();
});

test('saving an offer keeps what changed while its dialog was open', async () => {
  const { page: other } = await visitAs(ada);
  await openPage(other, '/stores');
  await other.getByRole('link', { name: 'My shop' }).click();
  await other.getByRole('button', { name: 'Edit offer orrery-yearly' }).click();
  const dialog = other.getByRole('dialog', { name: 'Edit offer' });
  await dialog.getByLabel('A refund').selectOption('nothing');
  const path = `/api${new URL(other.url()).pathname}/offers/orrery-yearly`;
  const changed = { grant: 'days', days: 45, mail: false, terms: { max_activations: 3 } };
  await ada.put(path, { ...changed, product: 'orrery' });
  await dialog.getByRole('button', { name: 'Save offer' }).click();
  await waitForToast(other, 'Offer saved');
  const { body } = await service.get(path, { authorization: `Bearer ${ada.token}` });
  expect(body).toMatchObject({ ...changed, on_refund: 'nothing' });
});

test('the page of a purchase doesn’t say that its store is deleted when the store can’t be read', async () => {
  await page.route('**/api/stores/*', (route) => route.abort());
  await openPage(page, '/purchases?q=A-1001');
  await page.getByRole('link', { name: 'grace@example.com' }).click();
  await page.getByText('The service can’t be reached').waitFor();
  await expect.poll(() => page.getByText('Deleted', { exact: true }).count()).toBe(0);
  await page.unroute('**/api/stores/*');
});

test('a store is deleted once its name is typed, and its purchases stay', async () => {
  await openPage(page, '/stores');
  await page.getByRole('link', { name: 'My shop' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByLabel('Type My shop to confirm').fill('My shop');
  await dialog.getByRole('button', { name: 'Delete store' }).click();
  await page.getByText('No stores yet').waitFor();
  await openPage(page, '/purchases');
  await page.getByRole('link', { name: 'grace@example.com' }).click();
  await page.getByText('Deleted', { exact: true }).waitFor();
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
