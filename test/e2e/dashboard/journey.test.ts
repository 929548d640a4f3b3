import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReceiver, type Inbox, type Receiver } from '../../crash/receiver.ts';
import { uniqueEmail, PASSWORD } from '../support/customer.ts';
import { service, visit } from '../support/dashboard.ts';

// A new customer, from registration to a canceled subscription, with a webhook receiver that checks signatures.
// Each test continues where the previous test ended.

let receiver: Receiver;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  receiver = await openReceiver({ failFirst: 0 });
  ({ page, consoleErrors } = await visit());
});
afterAll(() => receiver.close());

const goTo = async (name: string) => {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
};
const eventNames = (inbox: Inbox) => [...inbox.events.values()].map(({ name }) => name);

let apiKey: string;
let licenseKey: string;
let inbox: Inbox;

test('registering opens the home page', async () => {
  await page.goto('/register');
  await page.getByLabel('Email').fill(uniqueEmail('ada'));
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/');
});

test('the first steps create a product', async () => {
  await page.getByRole('button', { name: 'Create a sample product' }).click();
  await expect.poll(() => page.getByText('2 of 7 done').count()).toBe(1);
});

test('creating an API key shows it', async () => {
  await goTo('API keys');
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await page.getByLabel('Name').fill('Production');
  await page.getByRole('button', { name: 'Create key' }).click();
  apiKey = (await page.locator('[data-secret]').textContent()) ?? '';
  expect(apiKey).toMatch(/^lk_live_/);
  await page.getByRole('button', { name: 'Done' }).click();
});

test('adding a webhook shows its signing secret', async () => {
  await goTo('Webhooks');
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill(receiver.urlOf('/ada'));
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  const secret = (await dialog.locator('[data-secret]').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_/);
  inbox = receiver.open('/ada', secret);
  await dialog.getByRole('link', { name: 'Open webhook' }).click();
  await page.getByRole('heading', { name: receiver.urlOf('/ada') }).waitFor();
});

test('a test event arrives and is shown as delivered', async () => {
  await page.getByRole('button', { name: 'Send test event' }).first().click();
  await expect.poll(() => eventNames(inbox)).toEqual(['webhook.test']);
  await expect
    .poll(() => page.getByRole('region', { name: 'Delivery', exact: true }).textContent())
    .toContain('Delivered');
});

test('creating a license for a customer shows its key', async () => {
  await goTo('Licenses');
  await page.getByRole('button', { name: 'Create license' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Create license' });
  await dialog.getByLabel('Customer email').fill('grace@example.com');
  await dialog.getByRole('button', { name: 'Create license' }).click();
  licenseKey = (await page.locator('[data-secret]').textContent()) ?? '';
  await page.getByRole('link', { name: 'Open license' }).click();
  await page.getByRole('heading', { level: 1, name: licenseKey }).waitFor();
  expect(licenseKey).toMatch(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/);
});

test('“Try it” shows the response of the API', async () => {
  await page.getByRole('button', { name: /^For developers/ }).click();
  await page.getByRole('button', { name: 'Send verify' }).click();
  const response = page.getByRole('region', { name: 'response' });
  await expect.poll(() => response.textContent()).toContain('"valid": true');
  await page.getByRole('status').getByText('200 OK').waitFor();
});

test('the receiver gets both license events with valid signatures', async () => {
  await expect
    .poll(() => eventNames(inbox).toSorted())
    .toEqual(['license.created', 'license.verified', 'webhook.test']);
  expect(new Set([...inbox.events.values()].slice(1).map(({ licenseKey }) => licenseKey))).toEqual(
    new Set([licenseKey]),
  );
  expect(inbox.badSignatures).toBe(0);
});

test('paying for Pro returns to the billing page with a confirmation', async () => {
  await goTo('Billing');
  await page.getByRole('button', { name: /Pro$/ }).click();
  await page.getByRole('heading', { name: 'Latchkey pro' }).waitFor();
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByRole('status').getByText('You’re on Pro').waitFor();
  expect(new URL(page.url()).pathname).toBe('/billing');
  await expect.poll(() => eventNames(inbox)).toContain('payment.success');
});

test('completed first steps disappear from the home page', async () => {
  await goTo('Home');
  await page.getByRole('meter', { name: 'API calls used' }).waitFor();
  await page.getByText('of 100,000 API calls').waitFor();
  await expect.poll(() => page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
});

test('canceling at the end of the period keeps the plan until then', async () => {
  await goTo('Billing');
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog', { name: /Cancel/ }));
  await dialog.getByRole('button', { name: 'Cancel subscription' }).click();
  await expect.poll(() => eventNames(inbox)).toContain('subscription.cancelled');
  await expect.poll(() => page.getByRole('main').textContent()).toMatch(/Canceled on/);
  expect((await service.get('/api/account', { 'x-api-key': apiKey })).body).toMatchObject({ plan: 'pro' });
});

test('no page logs an error to the console', () => {
  expect(consoleErrors).toEqual([]);
});
