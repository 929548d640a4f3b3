import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReceiver, type Inbox, type Receiver } from '../../crash/receiver.ts';
import type { Visit } from '../support/browser.ts';
import { newEmail, PASSWORD } from '../support/customer.ts';
import { service, visit } from '../support/dashboard.ts';

// From nothing to a paid plan and back, in one browser, with a real server at the other end of the webhooks that
// checks their signatures.

let receiver: Receiver;
let ada: Visit;

beforeAll(async () => {
  receiver = await openReceiver({ failFirst: 0 });
  ada = await visit();
});
afterAll(() => receiver.close());

const goTo = async (name: string) => {
  await ada.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
  await ada.page.getByRole('heading', { level: 1, name }).waitFor();
};
const names = (inbox: Inbox) => [...inbox.events.values()].map(({ name }) => name);

let apiKey: string;
let licenseKey: string;
let inbox: Inbox;

test('she opens an account', async () => {
  const { page } = ada;
  await page.goto('/register');
  await page.getByLabel('E-mail').fill(newEmail('ada'));
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/');
});

test('she makes an API key', async () => {
  const { page } = ada;
  await goTo('API keys');
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await page.getByLabel('Name').fill('Production');
  await page.getByRole('button', { name: 'Create key' }).click();
  apiKey = (await page.locator('[data-secret]').textContent()) ?? '';
  expect(apiKey).toMatch(/^lk_live_/);
  await page.getByRole('button', { name: 'Done' }).click();
});

test('she adds a webhook and gets its secret', async () => {
  const { page } = ada;
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

test('she sends a test event, which arrives and shows as delivered', async () => {
  const { page } = ada;
  await page.getByRole('button', { name: 'Send test event' }).first().click();
  await expect.poll(() => names(inbox)).toEqual(['webhook.test']);
  await expect
    .poll(() => page.getByRole('region', { name: 'Delivery', exact: true }).textContent())
    .toContain('Delivered');
});

test('she creates a license for a customer', async () => {
  const { page } = ada;
  await goTo('Licenses');
  await page.getByRole('button', { name: 'Create license' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Create license' });
  await dialog.getByLabel('Customer e-mail').fill('grace@example.com');
  await dialog.getByLabel('Product').fill('Orrery');
  await dialog.getByRole('button', { name: 'Create license' }).click();
  licenseKey = (await page.locator('[data-secret]').textContent()) ?? '';
  await page.getByRole('link', { name: 'Open license' }).click();
  await page.getByRole('heading', { level: 1, name: licenseKey }).waitFor();
  expect(licenseKey).toMatch(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/);
});

test('she tries to verify it and sees what her application would', async () => {
  const { page } = ada;
  await page.getByRole('button', { name: 'Send verify' }).click();
  const response = page.getByRole('region', { name: 'response' });
  await expect.poll(() => response.textContent()).toContain('"valid": true');
  await page.getByRole('status').getByText('200 OK').waitFor();
});

test('her server has heard of both, signed with the secret that she was shown', async () => {
  await expect.poll(() => names(inbox)).toEqual(['webhook.test', 'license.created', 'license.verified']);
  expect(new Set([...inbox.events.values()].slice(1).map(({ licenseKey }) => licenseKey))).toEqual(
    new Set([licenseKey]),
  );
  expect(inbox.badSignatures).toBe(0);
});

test('she takes the plan Pro, pays, and comes back to a page that says so', async () => {
  const { page } = ada;
  await goTo('Billing');
  await page.getByRole('button', { name: /Pro$/ }).click();
  await page.getByRole('heading', { name: 'Latchkey pro' }).waitFor();
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByRole('status').getByText('You are on Pro').waitFor();
  expect(new URL(page.url()).pathname).toBe('/billing');
  await expect.poll(() => names(inbox)).toContain('payment.success');
});

test('every first step is done, so none is shown any more', async () => {
  const { page } = ada;
  await goTo('Home');
  await page.getByRole('meter', { name: 'API calls used' }).waitFor();
  await page.getByText('of 100,000 API calls').waitFor();
  expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
});

test('she cancels at the end of the month and keeps the plan until then', async () => {
  const { page } = ada;
  await goTo('Billing');
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog', { name: /Cancel/ }));
  await dialog.getByRole('button', { name: 'Cancel subscription' }).click();
  await expect.poll(() => names(inbox)).toContain('subscription.cancelled');
  await expect.poll(() => page.getByRole('main').textContent()).toMatch(/[Cc]ancelled/);
  expect((await service.get('/api/account', { 'x-api-key': apiKey })).body).toMatchObject({ plan: 'pro' });
});

test('in all that the console had nothing to complain of', () => {
  expect(ada.faults).toEqual([]);
});
