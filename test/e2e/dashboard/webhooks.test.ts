import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReceiver, type Receiver } from '../../crash/receiver.ts';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// One webhook, from its creation to its deletion. Each test continues where the previous test ended.

let receiver: Receiver;
let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  receiver = await openReceiver({ failFirst: 0 });
  ada = await createAccount(service, 'ada');
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/webhooks');
});
afterAll(() => receiver.close());

const deliveryDetails = () => page.getByRole('region', { name: 'Delivery', exact: true });
const deliveries = () => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
const chooseAction = async (item: string) => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

let secret: string;

test('a URL with a private address shows an error at its field', async () => {
  await page.getByText('No webhooks yet').waitFor();
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  await page.getByLabel('URL').fill('https://10.0.0.1/hook');
  await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
  await expect.poll(() => page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
});

test('adding a webhook for two events shows its signing secret', async () => {
  const dialog = page.getByRole('dialog');
  // The receiver responds 404 until the path is opened, so the first events fail.
  await dialog.getByLabel('URL').fill(receiver.urlOf('/later'));
  await dialog.getByLabel('Description').fill('CRM');
  await dialog.getByLabel('Selected events').check();
  await dialog.getByLabel('license.created').check();
  await dialog.getByLabel('license.verified').check();
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  secret = (await dialog.locator('[data-secret]').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_/);
  await dialog.getByRole('link', { name: 'Open webhook' }).click();
  await page.getByRole('heading', { level: 1, name: receiver.urlOf('/later') }).waitFor();
});

test('a failed delivery shows the response to its attempt, and that it is tried again', async () => {
  await ada.addLicense();
  await deliveries().first().getByRole('link', { name: 'license.created' }).click();
  await expect.poll(() => deliveryDetails().textContent()).toMatch(/404/);
  await expect.poll(() => deliveryDetails().textContent()).toMatch(/Retrying, \d+ attempts?/);
  expect(new URL(page.url()).searchParams.get('delivery')).toMatch(/^dlv_/);
});

test('the URL of a delivery opens it in another tab', async () => {
  const other = await page.context().newPage();
  await openPage(other, page.url());
  await other
    .getByRole('region', { name: 'Delivery', exact: true })
    .getByText('license_key')
    .first()
    .waitFor();
  await expect
    .poll(() => other.getByRole('heading', { level: 1 }).textContent())
    .toBe(receiver.urlOf('/later'));
  await other.close();
});

test('a resent delivery arrives, and the page shows it as delivered', async () => {
  const inbox = receiver.open('/later', secret);
  await deliveryDetails().getByRole('button', { name: 'Resend' }).click();
  await expect.poll(() => inbox.events.size).toBe(1);
  await expect.poll(() => deliveryDetails().textContent()).toContain('Delivered');
});

test('a test event is delivered', async () => {
  await page.getByRole('button', { name: 'Send test event' }).first().click();
  await expect.poll(() => deliveries().first().textContent()).toMatch(/webhook\.test.*Delivered/);
});

test('the signing secret can be revealed and rotated, and the page shows how long the old secret also signs', async () => {
  await page.getByRole('navigation', { name: 'Webhook' }).getByRole('link', { name: 'Settings' }).click();
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Reveal' }).click();
  await expect.poll(() => page.locator('[data-secret]').textContent()).toBe(secret);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByText('The previous secret also signs requests until').waitFor();
  await expect.poll(() => page.locator('[data-secret]').textContent()).not.toBe(secret);
});

test('a disabled webhook can’t send test events until it is enabled', async () => {
  await chooseAction('Disable');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable webhook' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Send test event' }).count()).toBe(0);
  await ada.addLicense();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Send test event' }).first().waitFor();
});

test('an enabled webhook gets what it has missed, since a day', async () => {
  await chooseAction('Send missed events');
  const dialog = page.getByRole('alertdialog');
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Send missed events' }).click();
  await waitForToast(page, /^\d+ deliver(y|ies) due now$/);
});

test('deleting a webhook requires typing its hostname', async () => {
  await chooseAction('Delete');
  const dialog = page.getByRole('alertdialog');
  await dialog.getByLabel('Type 127.0.0.1 to confirm').fill('127.0.0.1');
  await dialog.getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByText('No webhooks yet').waitFor();
  expect(new URL(page.url()).pathname).toBe('/webhooks');
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});

/** Holds back the response to the first request for the list, which the service answers at once. */
const HOLD_FIRST_LIST = `{
  const send = window.fetch;
  let isFirst = true;
  const released = new Promise((release) => (window.releaseList = release));
  window.fetch = async (...request) => {
    const response = await send(...request);
    if (isFirst && new URL(response.url).pathname === '/api/webhooks') {
      isFirst = false;
      await released;
    }
    return response;
  };
}`;

test('a webhook added while the list is still loading can be opened', async () => {
  const { page: slowPage, context } = await visitAs(await createAccount(service, 'slow'));
  await context.addInitScript(HOLD_FIRST_LIST);
  await slowPage.goto('/webhooks');
  await slowPage.getByRole('button', { name: 'Add webhook' }).click();
  const dialog = slowPage.getByRole('dialog');
  await dialog.getByLabel('URL').fill(receiver.urlOf('/early'));
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  await dialog.getByText('Webhook added').waitFor();
  await slowPage.evaluate('window.releaseList()');
  await dialog.getByRole('link', { name: 'Open webhook' }).click();
  await slowPage.getByRole('heading', { level: 1, name: receiver.urlOf('/early') }).waitFor();
  expect(await slowPage.content()).not.toContain('Webhook not found');
});
