import { randomBytes } from 'node:crypto';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { axeViolations, openVisit, type Visit, waitForToast } from '../support/browser.ts';
import { checkOutBuilt, newSecrets, writeSecrets } from '../support/checkout.ts';
import { createAccount, type Customer } from '../support/customer.ts';
import { cleanUp, type Service, startService } from '../support/service.ts';

// The operator's page, at a service of its own, because others have no operator's token. Each test continues where the previous
// test ended.

const TOKEN = randomBytes(32).toString('hex');

let service: Service;
let ada: Customer;
let apiKey: string;
let licenseKey: string;
let visit: Visit;

beforeAll(async () => {
  const folder = await checkOutBuilt();
  writeSecrets(folder, { ...newSecrets(), OPERATOR_TOKEN: TOKEN });
  service = await startService(folder);
  ada = await createAccount(service, 'ada');
  ({ api_key: apiKey } = await ada.addKey());
  ({ license_key: licenseKey } = await ada.addLicense({}));
  await createAccount(service, 'grace');
  const browser = await chromium.connect(inject('dashboard').browserEndpoint);
  visit = await openVisit(browser, service.origin);
});
afterAll(async () => {
  await visit.context.browser()?.close();
  await cleanUp();
});

const rows = () => visit.page.getByRole('table', { name: 'Accounts' }).locator('tbody tr');
const rowOf = ({ email }: Customer) => rows().filter({ hasText: email });
const choose = async (action: string) => {
  await visit.page.getByRole('button', { name: `Actions of ${ada.email}` }).click();
  await visit.page.getByRole('menuitem', { name: action }).click();
};
const verify = async () =>
  (await service.post('/api/v1/licenses/verify', { license_key: licenseKey }, { 'x-api-key': apiKey }))
    .status;

const open = async () => {
  await visit.page.getByLabel('Operator token').fill(TOKEN);
  await visit.page.getByRole('button', { name: 'Open' }).click();
  await visit.page.getByRole('heading', { name: 'Accounts' }).waitFor();
};

test('asks for the operator’s token, and keeps it nowhere', async () => {
  const { page } = visit;
  await page.goto('/operator');
  await page.getByLabel('Operator token').fill('wrong');
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('This isn’t the operator token.').waitFor();
  await open();
  const kept = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  );
  expect(kept).not.toContain(TOKEN);
  await page.reload();
  await open();
});

test('shows each figure of the service with what it means, and the accounts with their use', async () => {
  const { page } = visit;
  const figures = page.getByRole('region', { name: 'Service' }).getByRole('listitem');
  await expect.poll(() => figures.count()).toBe(8);
  const erasure = figures.filter({ hasText: 'Oldest erasure overdue' });
  await expect
    .poll(() => erasure.textContent())
    .toMatch(/None.*Somebody has asked to be erased.*look in the log/);
  await expect.poll(() => rows().count()).toBe(2);
  const text = (await rowOf(ada).textContent()) ?? '';
  expect(text).toMatch(/free.*B.*of 10 MB.*0of 1,000.*1/);
  await page.getByRole('button', { name: 'Newest' }).click();
  await expect.poll(() => rows().first().textContent()).toContain('grace');
  await page.getByLabel('Search accounts').fill(ada.email);
  await expect.poll(() => rows().count()).toBe(1);
});

test.for([
  { theme: 'light', width: 1_280 },
  { theme: 'dark', width: 390 },
] as const)('is accessible and fits in $theme at $width px', async ({ theme, width }) => {
  const { page } = visit;
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height: 900 });
  expect(await axeViolations(page)).toEqual([]);
  expect(
    await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
  ).toBe(true);
  await page.setViewportSize({ width: 1_280, height: 900 });
});

test('suspends an account at once, and reinstates it', async () => {
  const { page } = visit;
  await choose('Suspend…');
  await page.getByRole('button', { name: 'Suspend account' }).click();
  await rowOf(ada).getByText('Suspended').waitFor();
  expect(await verify()).toBe(403);
  await choose('Reinstate…');
  await page.getByRole('button', { name: 'Reinstate account' }).click();
  // The rows are hidden behind the dialog until the call is answered.
  await waitForToast(page, 'Account reinstated');
  await rowOf(ada).getByText('Suspended').waitFor({ state: 'detached' });
  expect(await verify()).toBe(200);
});

test('a grant that is saved again keeps its last day', async () => {
  const { page } = visit;
  await choose('Grant a plan…');
  await page.getByLabel('Last day').fill('2099-01-31');
  await page.getByRole('button', { name: 'Save' }).click();
  await waitForToast(page, 'Plan granted');
  await choose('Grant a plan…');
  await expect.poll(() => page.getByLabel('Last day').inputValue()).toBe('2099-01-31');
  await page.getByRole('button', { name: 'Save' }).click();
  await waitForToast(page, 'Plan granted');
  const path = `/operator/accounts?q=${encodeURIComponent(ada.email)}`;
  const { body } = await service.get(path, { authorization: `Bearer ${TOKEN}` });
  expect(body).toMatchObject({
    data: [{ granted_plan: 'pro', granted_until: '2099-01-31T23:59:59.999Z' }],
  });
});

test('grants a plan, announces another address, and invites', async () => {
  const { page } = visit;
  await choose('Grant a plan…');
  await page.getByLabel('Plan', { exact: true }).selectOption('scale');
  await page.getByRole('button', { name: 'Save' }).click();
  await rowOf(ada).getByText('scale').waitFor();
  await choose('Change email address…');
  await page.getByLabel('New email address').fill(ada.email);
  await page.getByRole('button', { name: 'Change in 48 hours' }).click();
  await page.getByText('Is already the email address of this account').waitFor();
  await page.getByLabel('New email address').fill('ada.lovelace@example.com');
  await page.getByRole('button', { name: 'Change in 48 hours' }).click();
  await waitForToast(page, /^The address changes at/);
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('Email').fill('grace@example.com');
  await page.getByRole('button', { name: 'Create link' }).click();
  await expect
    .poll(() => page.locator('[data-secret]').textContent())
    .toContain(`${service.origin}/register#invitation=`);
  await page.keyboard.press('Escape');
  const invitation = page.getByRole('dialog', { name: 'Invitation' });
  await expect.poll(() => invitation.getByRole('button', { name: 'Close' }).count()).toBe(0);
  await invitation.getByRole('button', { name: 'Done' }).click();
  await invitation.waitFor({ state: 'detached' });
  expect(visit.consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
