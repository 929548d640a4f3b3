import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { loseNextAnswer, service, visitAs } from '../support/dashboard.ts';

// Forms that make something, whose first answer is lost. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.addKey({ name: 'Rotated', scope: 'verify' });
  ({ page } = await visitAs(ada));
});

const list = async (path: string) => {
  const { body } = await service.get(path, { authorization: `Bearer ${ada.token}` });
  return (body as { data: unknown[] }).data;
};
const get = async (path: string) =>
  (await service.get(path, { authorization: `Bearer ${ada.token}` })).body as object;
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const dialog = () => page.getByRole('dialog');
const secret = () => page.locator('[data-secret]');

const sendTwice = async (url: string, button: string) => {
  await loseNextAnswer(page, url);
  await dialog().getByRole('button', { name: button }).click();
  await dialog().getByText('The service can’t be reached').waitFor();
  await dialog().getByRole('button', { name: button }).click();
  await secret().waitFor();
};

test('an API key is created once, and shown at the second attempt', async () => {
  await openPage(page, '/keys?create=true');
  await page.getByLabel('Name', { exact: true }).fill('Production');
  await sendTwice('/api/create-api-key', 'Create key');
  await expect.poll(() => secret().textContent()).toMatch(/^lk_live_/);
  expect(await list('/api/api-keys')).toHaveLength(2);
});

test('an API key is rotated once', async () => {
  await openPage(page, '/keys');
  await page.getByRole('button', { name: 'More for Rotated' }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  await sendTwice('/rotate', 'Rotate key');
  expect(await list('/api/api-keys')).toHaveLength(3);
});

test('a webhook is added once', async () => {
  await openPage(page, '/webhooks?create=true');
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hooks');
  await sendTwice('/api/webhooks', 'Add webhook');
  expect(await list('/api/webhooks')).toHaveLength(1);
});

test('a store is added once', async () => {
  await openPage(page, '/stores?create=true');
  await page.getByLabel('Where you sell').selectOption('generic');
  await sendTwice('/api/stores', 'Add store');
  expect(await list('/api/stores')).toHaveLength(1);
});

test('a license is created once, even if the page was reloaded meanwhile', async () => {
  await openPage(page, '/licenses?create=true');
  await page.getByLabel('Customer email').fill('grace@example.com');
  await loseNextAnswer(page, '/api/v1/licenses/create');
  await page.getByRole('button', { name: 'Create license' }).last().click();
  await dialog().getByText('The service can’t be reached').waitFor();
  await page.reload();
  await page.getByText('What you had typed is back.').waitFor();
  await dialog().getByRole('button', { name: 'Create license' }).click();
  await page.getByRole('dialog', { name: 'License created' }).waitFor();
  expect(await list('/api/v1/licenses')).toHaveLength(1);
});

const loseAndReload = async (url: string, button: string) => {
  await loseNextAnswer(page, url);
  await dialog().getByRole('button', { name: button }).click();
  await dialog().getByText('The service can’t be reached').waitFor();
  await page.reload();
};

test('a license is created once, even if nothing was typed and the page was reloaded meanwhile', async () => {
  await openPage(page, '/licenses?create=true');
  await loseAndReload('/api/v1/licenses/create', 'Create license');
  await dialog().getByRole('button', { name: 'Create license' }).click();
  await page.getByRole('dialog', { name: 'License created' }).waitFor();
  expect(await list('/api/v1/licenses')).toHaveLength(2);
});

test('a license is renewed once, even if nothing was typed and the page was reloaded meanwhile', async () => {
  const { id } = await ada.addLicense({ expires_at: '2098-01-01' });
  await openPage(page, `/licenses/${id}`);
  await press('Renew');
  await loseAndReload('/renew', 'Renew license');
  await press('Renew');
  await dialog().getByRole('button', { name: 'Renew license' }).click();
  await waitForToast(page, /^License renewed through/);
  expect(await get(`/api/v1/licenses/${id}`)).toMatchObject({ expires_at: '2099-01-01' });
});

const reload = async () => {
  await page.reload();
  await page.getByText('What you had typed is back.').waitFor();
};

test.for([
  ['', async () => {}],
  [' after a reload', reload],
] as const)('what a lost answer may have saved is changed back%s', async ([, between]) => {
  const { id } = await ada.addWebhook({ url: 'http://127.0.0.1:9/back', description: 'Orders' });
  const description = page.getByLabel('Description', { exact: true });
  await openPage(page, `/webhooks/${id}?tab=settings`);
  await description.fill('Payments');
  await loseNextAnswer(page, `/api/webhooks/${id}`);
  await press('Save changes');
  await page.getByText('The service can’t be reached').waitFor();
  await between();
  await expect.poll(() => description.inputValue()).toBe('Payments');
  await description.fill('Orders');
  await press('Save changes');
  await waitForToast(page, 'Webhook saved');
  expect(await get(`/api/webhooks/${id}`)).toMatchObject({ description: 'Orders' });
});

test('so it is with the fields, metadata, and terms of a license', async () => {
  const { id } = await ada.addLicense({ customer_name: 'Grace', metadata: { order: 1 } });
  const lose = async (button: string) => {
    await loseNextAnswer(page, `/licenses/${id}`);
    await dialog().getByRole('button', { name: button }).click();
    await dialog().getByText('The service can’t be reached').waitFor();
  };
  await openPage(page, `/licenses/${id}`);
  await press('Edit');
  await page.getByLabel('Customer name').fill('Grace Hopper');
  await page.getByLabel('Metadata value').fill('2');
  await lose('Save changes');
  await page.getByLabel('Customer name').fill('Grace');
  await page.getByLabel('Metadata value').fill('1');
  await press('Save changes');
  await waitForToast(page, 'License changed');
  await press('Edit terms');
  await page.getByLabel('Days of grace').selectOption('own');
  await page.getByLabel('Number of days').fill('9');
  await lose('Save terms');
  await page.getByLabel('Days of grace').selectOption('inherit');
  await press('Save terms');
  await waitForToast(page, 'Terms changed');
  const license = await get(`/api/v1/licenses/${id}`);
  expect(license).toMatchObject({ customer_name: 'Grace', metadata: { order: 1 } });
  expect(license).not.toHaveProperty('terms.grace_days');
});

test('a key whose earlier attempt was another one is created at the next attempt', async () => {
  await openPage(page, '/keys?create=true');
  await page.getByLabel('Name', { exact: true }).fill('First name');
  await loseNextAnswer(page, '/api/create-api-key');
  await dialog().getByRole('button', { name: 'Create key' }).click();
  await dialog().getByText('The service can’t be reached').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Second name');
  await dialog().getByRole('button', { name: 'Create key' }).click();
  await dialog().getByText('An earlier attempt created an API key').waitFor();
  await dialog().getByRole('button', { name: 'Create key' }).click();
  await secret().waitFor();
  expect(await list('/api/api-keys')).toHaveLength(5);
});
