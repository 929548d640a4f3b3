import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReceiver, type Receiver } from '../../crash/receiver.ts';
import { open, type Visit } from '../support/browser.ts';
import { type Customer, openAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// One webhook, from a URL that is refused to its deletion.

let receiver: Receiver;
let ada: Customer;
let visit: Visit;

beforeAll(async () => {
  receiver = await openReceiver({ failFirst: 0 });
  ada = await openAccount(service, 'ada');
  visit = await visitAs(ada);
  await open(visit.page, '/webhooks');
});
afterAll(() => receiver.close());

const details = () => visit.page.getByRole('region', { name: 'Delivery', exact: true });
const deliveries = () => visit.page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
const menu = async (item: string) => {
  await visit.page.getByRole('button', { name: 'More actions' }).click();
  await visit.page.getByRole('menuitem', { name: item }).click();
};

let secret: string;

test('a URL where no webhook may go is refused at its field', async () => {
  const { page } = visit;
  await page.getByText('No webhooks yet').waitFor();
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  await page.getByLabel('URL').fill('https://10.0.0.1/hook');
  await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
  await expect.poll(() => page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
});

test('one that wants two kinds of events is added, and its secret shown', async () => {
  const { page } = visit;
  const dialog = page.getByRole('dialog');
  // Nobody answers there yet: the first events fail.
  await dialog.getByLabel('URL').fill(receiver.urlOf('/later'));
  await dialog.getByLabel('Description').fill('CRM');
  await dialog.getByLabel('Only these').check();
  await dialog.getByLabel('license.created').check();
  await dialog.getByLabel('license.verified').check();
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  secret = (await dialog.locator('[data-secret]').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_/);
  await dialog.getByRole('link', { name: 'Open webhook' }).click();
  await page.getByRole('heading', { level: 1, name: receiver.urlOf('/later') }).waitFor();
});

test('a delivery that fails shows its attempt with the answer, and when it is tried next', async () => {
  const { page } = visit;
  await ada.addLicense();
  await deliveries().first().getByRole('link', { name: 'license.created' }).click();
  await expect.poll(() => details().textContent()).toMatch(/404/);
  expect(await details().textContent()).toContain('Pending');
  expect(new URL(page.url()).searchParams.get('delivery')).toMatch(/^dlv_/);
});

test('its address can be shared: it opens the same delivery', async () => {
  const other = await visit.context.newPage();
  await open(other, visit.page.url());
  await other
    .getByRole('region', { name: 'Delivery', exact: true })
    .getByText('license_key')
    .first()
    .waitFor();
  expect(await other.getByRole('heading', { level: 1 }).textContent()).toBe(receiver.urlOf('/later'));
  await other.close();
});

test('resent once the receiver is there, it arrives, and the page notices by itself', async () => {
  const inbox = receiver.open('/later', secret);
  await details().getByRole('button', { name: 'Resend' }).click();
  await expect.poll(() => inbox.events.size).toBe(1);
  await expect.poll(() => details().textContent()).toContain('Delivered');
});

test('a test event goes to this webhook alone', async () => {
  await visit.page.getByRole('button', { name: 'Send test event' }).first().click();
  await expect.poll(() => deliveries().first().textContent()).toMatch(/webhook\.test.*Delivered/);
});

test('its secret is revealed when asked for, and rotated with a word on the day in which both sign', async () => {
  const { page } = visit;
  await page.getByRole('navigation', { name: 'Webhook' }).getByRole('link', { name: 'Settings' }).click();
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Reveal' }).click();
  await expect.poll(() => page.locator('[data-secret]').textContent()).toBe(secret);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByText('The secret before this one signs, too, until').waitFor();
  expect(await page.locator('[data-secret]').textContent()).not.toBe(secret);
});

test('disabled, it sends nothing; enabled, it does again', async () => {
  const { page } = visit;
  await menu('Disable');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable webhook' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  expect(await page.getByRole('button', { name: 'Send test event' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Send test event' }).first().waitFor();
});

test('deleting it takes its host’s name', async () => {
  const { page } = visit;
  await menu('Delete');
  const dialog = page.getByRole('alertdialog');
  await dialog.getByLabel('Type 127.0.0.1 to confirm').fill('127.0.0.1');
  await dialog.getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByText('No webhooks yet').waitFor();
  expect(new URL(page.url()).pathname).toBe('/webhooks');
  expect(visit.faults.filter((fault) => !fault.startsWith('Failed to load resource'))).toEqual([]);
});
