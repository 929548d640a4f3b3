import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage, stopFollowing, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount, PASSWORD } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// What was typed and not sent. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let context: BrowserContext;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('orrery', { name: 'Orrery' });
  await ada.putProduct('yearly', { terms: { duration_days: 365 } });
  ({ page, context, consoleErrors } = await visitAs(ada));
});

const dialog = () => page.getByRole('dialog', { name: 'Create license' });
const field = (name: string) => dialog().getByLabel(name, { exact: true });
const restored = () => page.getByRole('status').filter({ hasText: 'What you had typed is back.' });
/** The router keeps scroll positions beside them. */
const drafts = async (tab = page) =>
  JSON.stringify(
    await tab.evaluate(`Object.entries(sessionStorage).filter(([key]) => key.startsWith('latchkey.draft'))`),
  );

const fillIn = async () => {
  await field('Customer email').fill('grace@example.com');
  await field('Product').selectOption('orrery');
  await field('Expires').selectOption('days');
  await field('Days').fill('90');
  await field('License key').fill('GRACES-OWN-KEY');
  await dialog().getByRole('button', { name: 'Add metadata' }).click();
  await field('Metadata name').fill('order');
  await field('Metadata type').selectOption('number');
  await field('Metadata value').fill('1002');
};

const expectRestored = async () => {
  await restored().waitFor();
  await expect.poll(() => field('Days').inputValue()).toBe('90');
  const names = [
    'Customer email',
    'Product',
    'License key',
    'Metadata name',
    'Metadata type',
    'Metadata value',
  ];
  await expect
    .poll(() => Promise.all(names.map((name) => field(name).inputValue())))
    .toEqual(['grace@example.com', 'orrery', '', 'order', 'number', '1002']);
};

test('a reload brings back what was typed, but for the key, which is stored nowhere', async () => {
  await openPage(page, '/licenses?create=true');
  await fillIn();
  await expect.poll(() => drafts()).toContain('grace@example.com');
  expect(await drafts()).not.toContain('GRACES-OWN-KEY');
  await page.reload();
  await expectRestored();
  expect(await axeViolations(page)).toEqual([]);
});

test('after the session has ended, signing in brings it back, and sending it ends the draft', async () => {
  await stopFollowing(page);
  const cookies = await context.cookies();
  await context.clearCookies();
  await dialog().getByRole('button', { name: 'Create license' }).click();
  await page.getByText('Your session has ended.').waitFor();
  expect(cookies.length).toBeGreaterThan(0);
  await page.getByLabel('Email').fill(ada.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expectRestored();
  await dialog().getByRole('button', { name: 'Create license' }).click();
  await page.getByRole('dialog', { name: 'License created' }).waitFor();
  await expect.poll(() => drafts()).not.toContain('grace@example.com');
});

test('what is discarded doesn’t come back', async () => {
  await openPage(page, '/licenses?create=true');
  await expect.poll(() => restored().count()).toBe(0);
  await field('Customer email').fill('bob@example.com');
  await page.reload();
  await restored().getByRole('button', { name: 'Discard it' }).click();
  await restored().waitFor({ state: 'detached' });
  await expect.poll(() => field('Customer email').inputValue()).toBe('');
  await field('Customer email').fill('bob@example.com');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
  expect(await drafts()).not.toContain('bob@example.com');
});

test('a license that never expires comes back as one before its product is read, with what is true', async () => {
  await openPage(page, '/licenses?create=true');
  await field('Product').selectOption('yearly');
  await field('Expires').selectOption('never');
  await dialog().getByRole('button', { name: 'Add metadata' }).click();
  await field('Metadata name').fill('beta');
  await field('Metadata type').selectOption('boolean');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/api/v1/products?*', async (route) => {
    await released;
    return route.fallback().catch(() => undefined);
  });
  await page.reload();
  await restored().waitFor();
  await expect.poll(() => field('Metadata value').inputValue()).toBe('true');
  release();
  await expect.poll(() => field('Expires').textContent()).toContain('From the product: 365 days');
  await expect.poll(() => field('Expires').inputValue()).toBe('never');
  await page.unroute('**/api/v1/products?*');
  const created = page.waitForResponse('**/api/v1/licenses/create');
  await dialog().getByRole('button', { name: 'Create license' }).click();
  expect(await (await created).json()).toMatchObject({ expires_at: null, metadata: { beta: true } });
});

test('the forms of keys and webhooks come back as well, with what was chosen in them', async () => {
  await openPage(page, '/keys?create=true');
  await page.getByLabel('Name', { exact: true }).fill('Build server');
  await page.getByLabel('Verify licenses only').check();
  await page.reload();
  await restored().waitFor();
  await expect.poll(() => page.getByLabel('Verify licenses only').isChecked()).toBe(true);
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Build server');
  await openPage(page, '/webhooks?create=true');
  await page.getByLabel('URL').fill('https://example.com/hooks');
  await page.getByLabel('Selected events').check();
  await page.getByLabel('license.created', { exact: true }).check();
  await page.reload();
  await restored().waitFor();
  const chosen = () => page.getByRole('checkbox', { checked: true }).count();
  await expect.poll(() => page.getByLabel('license.created', { exact: true }).isChecked()).toBe(true);
  expect([await chosen(), await page.getByLabel('URL').inputValue()]).toEqual([
    1,
    'https://example.com/hooks',
  ]);
});

test('what was typed into the form of a page is there again after another page, until it is sent', async () => {
  const { id } = await ada.addWebhook({ url: 'http://127.0.0.1:9/hooks' });
  const description = page.getByLabel('Description', { exact: true });
  const open = (tab: string) =>
    page
      .getByRole('navigation', { name: 'Webhook', exact: true })
      .getByRole('link', { name: tab, exact: true })
      .click();
  await openPage(page, `/webhooks/${id}?tab=settings`);
  await description.fill('For the books');
  await open('Deliveries');
  await open('Settings');
  await restored().waitFor();
  await expect.poll(() => description.inputValue()).toBe('For the books');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await waitForToast(page, 'Webhook saved');
  await open('Deliveries');
  await expect.poll(() => drafts()).not.toContain('For the books');
});

test('a product that gets the code of a deleted one has nothing of what was typed for that', async () => {
  await ada.putProduct('left');
  await openPage(page, '/products/left');
  await page.getByLabel('Name').fill('Typed before');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete product' }).click();
  await waitForToast(page, 'Product deleted');
  await ada.putProduct('left', { name: 'Created after' });
  await openPage(page, '/products/left');
  await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Created after');
  await expect.poll(() => restored().count()).toBe(0);
});

test('signing out leaves no draft in any tab', async () => {
  const other = await context.newPage();
  for (const tab of [page, other]) {
    await openPage(tab, '/products/orrery');
    await tab.getByLabel('Name').fill('Orrery for two');
  }
  await page.reload();
  await restored().waitFor();
  await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Orrery for two');
  await expect.poll(() => drafts(other)).toContain('Orrery for two');
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  for (const tab of [page, other]) {
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await drafts(tab)).toBe('[]');
  }
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
