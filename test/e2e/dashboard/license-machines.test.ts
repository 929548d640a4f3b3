import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { downloadBy, service, visitAs } from '../support/dashboard.ts';

// The list of one account's licenses, by seats and machines. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];
let activationId = '';

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('orrery', { name: 'Orrery', terms: { max_activations: 2 } });
  for (const key of ['LICENSE-FULL-1', 'LICENSE-FULL-2', 'LICENSE-HALF-1', 'LICENSE-NONE-1'])
    await ada.addLicense({ license_key: key, product: 'orrery' });
  const { api_key } = await ada.addKey();
  const activate = async (licenseKey: string, fingerprint: string, name: string) =>
    (await ada.activate(api_key, licenseKey, { fingerprint, name })).activation?.id;
  for (const n of [1, 2]) {
    await activate(`LICENSE-FULL-${n}`, `fingerprint-${n}-a`, 'Render farm');
    await activate(`LICENSE-FULL-${n}`, `fingerprint-${n}-b`, 'Spare');
  }
  activationId = (await activate('LICENSE-HALF-1', 'fingerprint-half', 'Grace’s laptop')) ?? '';
  ({ page, consoleErrors } = await visitAs(ada));
});

const rows = () => page.getByRole('table', { name: 'Licenses' }).locator('tbody tr');
const keys = async () => (await rows().allInnerTexts()).map((text) => /LICENSE-\w+-\d/.exec(text)?.[0]);
const select = (name: string) => page.getByRole('combobox', { name, exact: true });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const search = () => page.getByRole('searchbox', { name: 'Search licenses' });
const parameters = () => Object.fromEntries(new URL(page.url()).searchParams);

test('licenses all of whose seats are taken are listed, in the order of creation only', async () => {
  await openPage(page, '/licenses?sort=expires_at');
  await expect.poll(() => rows().count()).toBe(4);
  await select('Filter by seats').selectOption('All seats taken');
  await expect.poll(keys).toEqual(['LICENSE-FULL-2', 'LICENSE-FULL-1']);
  await expect
    .poll(() => select('Order').locator('option').allTextContents())
    .toEqual(['Newest first', 'Oldest first']);
  await select('Order').selectOption('Oldest first');
  await expect.poll(keys).toEqual(['LICENSE-FULL-1', 'LICENSE-FULL-2']);
  expect(parameters()).toEqual({ seats: 'full', sort: 'created_at' });
  await openPage(page, page.url());
  await expect.poll(keys).toEqual(['LICENSE-FULL-1', 'LICENSE-FULL-2']);
  expect(await axeViolations(page)).toEqual([]);
  const { text } = await downloadBy(page, button('Export CSV'));
  expect(text.trimEnd().split('\r\n').slice(1).join()).toMatch(/^LICENSE-FULL-1,.*LICENSE-FULL-2,/s);
  await select('Filter by seats').selectOption('Seats taken');
  await expect.poll(keys).toEqual(['LICENSE-FULL-1', 'LICENSE-FULL-2', 'LICENSE-HALF-1']);
});

test('a machine’s name that is typed into the search finds its licenses', async () => {
  await search().fill('grace’s');
  await page.getByText('No license matches').waitFor();
  await button('Find machine “grace’s”').click();
  await expect.poll(keys).toEqual(['LICENSE-HALF-1']);
  expect(parameters()).toEqual({ machine: 'grace’s', sort: 'created_at' });
  await expect.poll(() => select('Filter by seats').inputValue()).toBe('');
  expect(await axeViolations(page)).toEqual([]);
  await button('Machine: grace’s. Show all machines').click();
  await expect.poll(() => rows().count()).toBe(4);
});

test('a text that licenses have can be looked for among machines, too', async () => {
  await openPage(page, '/licenses');
  await search().fill('orrery');
  await button('Find machine “orrery”').click();
  await page.getByText('No machine has the fingerprint or activation ID “orrery”').waitFor();
  await button('Show all licenses').click();
  await expect.poll(() => rows().count()).toBe(4);
});

test.for(['fingerprint', 'activation'])('the palette finds a license by a machine’s %s', async (by) => {
  await page.keyboard.press('ControlOrMeta+k');
  const text = by === 'activation' ? activationId : 'fingerprint-half';
  await page.getByRole('combobox', { name: /^Search pages/ }).fill(text);
  const group = page.getByRole('group', { name: 'Licenses with this machine' });
  await group.getByRole('option').getByText('LICENSE-HALF-1').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'LICENSE-HALF-1' }).waitFor();
  await openPage(page, '/licenses');
  expect(consoleErrors).toEqual([]);
});
