import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// The seats and terms of one license. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];
let apiKey: string;
let license: Awaited<ReturnType<Customer['addLicense']>>;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('tidewater', {
    name: 'Tidewater',
    terms: { max_activations: 2, lease_seconds: 5_400, entitlements: { export: true, projects: 25 } },
  });
  license = await ada.addLicense({ product: 'tidewater' });
  apiKey = (await ada.addKey({ scope: 'verify' })).api_key;
  await activate('machine-a', { name: 'Ada’s laptop', platform: 'macOS', app_version: '2.1.0' });
  await activate('machine-b');
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, `/licenses/${license.id}`);
});

const activate = (fingerprint: string, machine: object = {}) =>
  ada.activate(apiKey, license.license_key, { fingerprint, ...machine });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const card = (name: string) => page.getByRole('region', { name, exact: true });
const machines = () => page.getByRole('table', { name: 'Machines' }).locator('tbody tr');
const choose = async (name: string) => {
  await button('More actions').click();
  await page.getByRole('menuitem', { name }).click();
};

test('the license leads to its customer, and back', async () => {
  await card('Customer and product').getByRole('link', { name: 'Open customer' }).click();
  await page.getByRole('heading', { level: 1, name: ada.email }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: license.license_key }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/licenses/${license.id}`);
});

test('the seats show who holds them, and a released seat is free for another machine', async () => {
  await card('Seats').getByText('2 of 2 seats taken').waitFor();
  const laptop = machines().filter({ hasText: 'Ada’s laptop' });
  await expect
    .poll(() => laptop.textContent())
    .toMatch(/macOS · 2\.1\.0.*machine-a.*(?:just now|minutes? ago).*(?:just now|minutes? ago).*in 1 hour/);
  expect(await activate('machine-c')).toMatchObject({ code: 'no_seat' });
  await button('Release the seat of Ada’s laptop').click();
  await button('Release seat').click();
  await waitForToast(page, 'Seat released');
  await card('Seats').getByText('1 of 2 seats taken').waitFor();
  await card('Seats').getByText('1 machine was refused in the last day').waitFor();
  await expect
    .poll(() => page.getByRole('list', { name: 'Refused machines' }).textContent())
    .toMatch(/^machine-c.*no seat was free · (?:just now|\d+ minutes? ago)$/);
  expect(await activate('machine-c')).toMatchObject({ code: 'valid' });
});

test('the terms show what the license inherits, and its own terms override that', async () => {
  await card('Terms').getByRole('link', { name: 'Tidewater' }).waitFor();
  await expect
    .poll(() => card('Terms').textContent())
    .toMatch(/Seats2Product.*Seat lease90 minutesProduct.*Days offline14 days/);
  await button('Edit terms').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Seats', { exact: true }).selectOption('Own value');
  await dialog.getByLabel('Number of seats').fill('5');
  await dialog.getByLabel('Seat lease').selectOption('Until released');
  await dialog.getByLabel('Updates until').fill('2099-12-31');
  await dialog.getByRole('button', { name: 'Add entitlement' }).click();
  await dialog.getByLabel('Entitlement name').fill('export');
  await dialog.getByLabel('Entitlement type').selectOption('Removed');
  await dialog.getByRole('button', { name: 'Save terms' }).click();
  await waitForToast(page, 'Terms changed');
  await expect
    .poll(() => card('Terms').textContent())
    .toMatch(/Seats5This license.*Until releasedThis license.*Dec 31, 2099.*export: RemovedThis license/);
  const answer = await activate('machine-d');
  expect(answer).toMatchObject({
    seats: { limit: 5 },
    entitlements: { projects: 25 },
    updates_until: '2099-12-31',
    activation: { lease_until: null },
  });
  expect(answer.entitlements).not.toHaveProperty('export');

  await button('Edit terms').click();
  await dialog.getByLabel('Seats', { exact: true }).selectOption('inherit');
  await dialog.getByRole('button', { name: 'Save terms' }).click();
  await expect.poll(() => card('Terms').textContent()).toContain('Seats2Product');
});

test('where the product can’t be read, the page says so, rather than that there is none', async () => {
  await page.route('**/api/v1/products?*', (route) => route.abort());
  await page.reload();
  await card('Terms').getByText('The service can’t be reached').waitFor();
  await expect.poll(() => card('Terms').textContent()).not.toContain('No product has the code');
  await expect.poll(() => button('Edit terms').isDisabled()).toBe(true);
  await page.unroute('**/api/v1/products?*');
  await card('Terms').getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => card('Terms').textContent()).toContain('Seats2Product');
});

test('saving the terms keeps those that changed while the dialog was open', async () => {
  await button('Edit terms').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Days offline').selectOption('Own value');
  await dialog.getByLabel('Number of days').fill('3');
  await ada.patchLicense(license.id, { terms: { max_activations: 7 } });
  await expect.poll(() => page.locator('main').textContent()).toContain('Seats7This license');
  await dialog.getByRole('button', { name: 'Save terms' }).click();
  await expect.poll(() => card('Terms').textContent()).toMatch(/Seats7This.*Days offline3 days/);
  await ada.patchLicense(license.id, { terms: { max_activations: null, offline_days: null } });
  await expect.poll(() => card('Terms').textContent()).toContain('Seats2Product');
});

test('an offline file can be downloaded, and its seat is only released after a second confirmation', async () => {
  await page.getByRole('button', { name: /^For developers/ }).click();
  await button('Create offline file').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create file' }).click();
  await dialog.getByText('Is required, because the license’s seats are limited').waitFor();
  await dialog.getByLabel('Fingerprint').fill('machine-d');
  await dialog.getByLabel('Days').fill('30');
  await dialog.getByRole('button', { name: 'Create file' }).click();
  const link = dialog.getByRole('link', { name: 'Download file' });
  await expect
    .poll(() => link.getAttribute('href'))
    .toMatch(/^data:application\/jwt,eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/);
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
  expect(download.suggestedFilename()).toBe(`${license.license_key}.jwt`);
  await button('Done').click();

  await button('Release the seat of machine-d').click();
  await button('Release seat').click();
  await page.getByRole('alert').getByText('An offline file holds this seat').waitFor();
  await button('Release anyway').click();
  await waitForToast(page, 'Seat released');
  await expect.poll(() => machines().filter({ hasText: 'machine-d' }).count()).toBe(0);
  const entries = page.getByRole('list', { name: 'History' }).getByRole('listitem');
  await expect
    .poll(() => entries.first().textContent())
    .toMatch(/^Seat released.*machine-d, by you or with an API key$/);
  await expect.poll(() => entries.nth(1).textContent()).not.toContain('Seat released');
  await expect.poll(() => entries.last().textContent()).toContain('Created');
  await expect
    .poll(() => entries.allTextContents())
    .toContainEqual(expect.stringMatching(/^Seat taken.*machine-d, by an application$/));
});

test('the developer’s tools stay open for the next license, and “Try it” takes and releases a made-up machine’s seat', async () => {
  await page.reload();
  await button('Send verify').waitFor();
  expect(await axeViolations(page)).toEqual([]);
  const response = page.getByRole('region', { name: 'response' });
  const send = async (call: string, code: string) => {
    await button(call).click();
    await button(`Send ${call}`).click();
    await expect.poll(() => response.textContent()).toContain(`"code": "${code}"`);
  };
  await ada.patchLicense(license.id, { terms: { max_activations: 4 } });
  await send('heartbeat', 'not_activated');
  await send('activate', 'valid');
  await expect.poll(() => machines().filter({ hasText: 'try-it-' }).count()).toBe(1);
  await send('deactivate', 'deactivated');
  await expect.poll(() => machines().filter({ hasText: 'try-it-' }).count()).toBe(0);
  await send('verify', 'not_activated');
});

test('replacing the key shows the new key, and the old key is unknown', async () => {
  await choose('Replace key');
  await button('Replace key').click();
  await waitForToast(page, 'License key replaced');
  const heading = page.getByRole('heading', { level: 1 });
  await expect.poll(() => heading.textContent()).not.toBe(license.license_key);
  const key = (await heading.textContent()) ?? '';
  expect(await activate('machine-b')).toMatchObject({ code: 'not_found' });
  license = { ...license, license_key: key };
  expect(await activate('machine-b')).toMatchObject({ code: 'valid' });
});

test('erasing the customer requires typing the email address, and the license stays', async () => {
  await choose('Erase customer');
  const confirm = button('Erase customer');
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await page.getByLabel(`Type ${ada.email} to confirm`).fill(ada.email);
  await confirm.click();
  await waitForToast(page, 'Customer erased');
  await page.getByText('erased@customer.invalid').first().waitFor();
  expect(await activate('machine-b')).toMatchObject({ code: 'valid' });
  await button('More actions').click();
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
  await expect.poll(() => page.getByRole('menuitem', { name: 'Erase customer' }).count()).toBe(0);
  await page.getByRole('menu').press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
});

test('deleting the license requires typing its key', async () => {
  await choose('Delete');
  const confirm = button('Delete license');
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await page.getByLabel(`Type ${license.license_key} to confirm`).fill(license.license_key);
  await confirm.click();
  await waitForToast(page, 'License deleted');
  await page.getByRole('heading', { level: 1, name: 'Licenses' }).waitFor();
  expect(await activate('machine-b')).toMatchObject({ code: 'not_found' });
  await page.goBack();
  await page.getByRole('heading', { name: 'License not found' }).waitFor();
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
