import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs, withClipboard } from '../support/dashboard.ts';

// The API keys of one account. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  ({ page, consoleErrors } = await visitAs(ada));
  await page.goto('/keys');
});

const readClipboard = async (): Promise<string> =>
  String(await page.evaluate('navigator.clipboard.readText()'));
const row = (name: string) => page.getByRole('row').filter({ hasText: name });
const revealedKey = () => page.locator('[data-secret]');
const verify = (apiKey: string) => ada.verify(apiKey, 'no-such-license');

let production: string;

test('an account without API keys sees an empty state that offers to create one', async () => {
  await page.getByText('No API keys yet').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Create API key' }).count()).toBe(2);
});

test('a new API key is shown in full, can be copied, and works', async () => {
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await page.getByLabel('Name').fill('Production');
  await page.getByRole('button', { name: 'Create key' }).click();
  production = (await revealedKey().textContent()) ?? '';
  expect(production).toMatch(/^lk_live_[0-9A-Za-z]{40,}$/);
  await withClipboard(async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Copy key' }).click();
    await expect.poll(readClipboard).toBe(production);
  });
  expect((await verify(production)).status).toBe(200);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
});

test('the list shows a masked API key with its scope and last use', async () => {
  await page.reload();
  const masked = `${production.slice(0, 12)}********${production.slice(-4)}`;
  await expect.poll(() => row('Production').textContent()).toContain(masked);
  await expect
    .poll(() => row('Production').textContent())
    .toMatch(/Full.*(?:just now|minutes? ago).*(?:just now|minutes? ago)/);
  expect(await page.content()).not.toContain(production);
});

test('what was 47 hours ago was a day ago, and not yesterday', async () => {
  const { page: later } = await visitAs(ada);
  await later.clock.setFixedTime(Date.now() + 47 * HOUR_MS);
  await later.goto('/keys');
  const created = later.getByRole('row').filter({ hasText: 'Production' });
  await expect.poll(() => created.textContent()).toMatch(/1 day ago.*1 day ago/);
});

test('an API key can be copied and revealed again, and closing the dialog removes it from the page', async () => {
  await withClipboard(async () => {
    await page.evaluate(`navigator.clipboard.writeText('')`);
    await row('Production').getByRole('button', { name: 'Copy key' }).click();
    await expect.poll(readClipboard).toBe(production);
  });
  await row('Production').getByRole('button', { name: 'Reveal key' }).click();
  await expect.poll(() => revealedKey().textContent()).toBe(production);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.content()).not.toContain(production);
});

test('a verify-only API key is rejected by other endpoints and shows when it expires', async () => {
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Name').fill('In the app');
  await page.getByLabel('Verify licenses only').check();
  await page.getByLabel('Last day').fill('2099-12-31');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await revealedKey().textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  expect((await verify(key)).status).toBe(200);
  expect((await service.get('/api/dashboard', { 'x-api-key': key })).status).toBe(403);
  await expect.poll(() => row('In the app').textContent()).toMatch(/Expires in \d+ years.*Verify only/);
});

test('rotating an API key shows a new one, and the old one works during the overlap', async () => {
  await row('Production').getByRole('button', { name: 'More for Production' }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  await page.getByLabel('The old key keeps working for').selectOption({ label: '3 days' });
  await page.getByRole('button', { name: 'Rotate key' }).click();
  const rotated = (await revealedKey().textContent()) ?? '';
  expect(rotated).not.toBe(production);
  expect((await verify(rotated)).status).toBe(200);
  expect((await verify(production)).status).toBe(200);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect
    .poll(() => row('Production').allTextContents())
    .toEqual([expect.not.stringContaining('Expires'), expect.stringContaining('Expires in 2 days')]);
  production = rotated;
});

test('an API key can be limited to addresses, which the list shows', async () => {
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Name').fill('Office');
  await page.getByLabel('Allowed IP addresses').fill('192.0.2.0/24, nowhere');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Must be an IP address or a CIDR block').waitFor();
  await page.getByLabel('Allowed IP addresses').fill('192.0.2.0/24\n2001:db8::1\n198.51.100.7');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await revealedKey().textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  await expect
    .poll(() => row('Office').textContent())
    .toContain('Only from 192.0.2.0/24, 2001:db8::1 and 1 more');
  expect((await verify(key)).body).toMatchObject({ error: { code: 'ip_not_allowed' } });
});

test('a last day in the past shows an error at its field', async () => {
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Last day').fill('2020-01-01');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Must be in the future').waitFor();
  await expect.poll(() => page.getByLabel('Last day').getAttribute('aria-invalid')).toBe('true');
});

test('what was typed in a dialog is discarded only on purpose', async () => {
  const dialog = page.getByRole('dialog', { name: 'Create API key' });
  await page.keyboard.press('Escape');
  await dialog.getByText('Discard what you have typed?').waitFor();
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  await expect.poll(() => dialog.getByLabel('Last day').inputValue()).toBe('2020-01-01');
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Discard' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('deleting an API key requires typing its name, and the API then rejects the key', async () => {
  await row('Production').first().getByRole('button', { name: 'More for Production' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const confirm = page.getByRole('button', { name: 'Delete key' });
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await page.getByLabel('Type Production to confirm').fill('production');
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await page.getByLabel('Type Production to confirm').fill('Production');
  await confirm.click();
  await waitForToast(page, 'API key deleted');
  await expect.poll(() => page.getByRole('alertdialog').count()).toBe(0);
  await expect.poll(() => row('Production').count()).toBe(1);
  const rejected = await verify(production);
  expect([rejected.status, rejected.body]).toMatchObject([403, { error: { code: 'api_key_invalid' } }]);
});

test('a failed request shows an error, and “Try again” loads the page', async () => {
  await page.route('**/api/api-keys*', (route) =>
    route.fulfill({
      status: 500,
      json: { error: { code: 'internal_error', message: 'Internal Server Error', request_id: 'req_broken' } },
    }),
  );
  await page.reload();
  const alert = page.getByRole('alert');
  await alert.getByText('Internal Server Error').waitFor();
  await expect.poll(() => alert.textContent()).toContain('req_broken');
  await page.unroute('**/api/api-keys*');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => row('In the app').count()).toBe(1);
});

const TOO_FAST = {
  status: 429,
  headers: { 'retry-after': '1' },
  json: { error: { code: 'rate_limit_exceeded', message: 'Rate Limit Exceeded', request_id: 'req_fast' } },
};

test('a request over a limit is sent again after Retry-After, and shows which limit if it fails again or the wait is long', async () => {
  await page.route('**/api/api-keys*', (route) => route.fulfill(TOO_FAST), { times: 1 });
  await page.reload();
  await expect.poll(() => row('In the app').count()).toBe(1);

  await page.route('**/api/create-api-key', (route) => route.fulfill(TOO_FAST), { times: 3 });
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Name').fill('Patience');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('alert').getByText('Too many requests. Try again in 1 second.').waitFor();

  const ofToday = 'The account has made as many changes today as it may.';
  const beyondToday = {
    ...TOO_FAST,
    headers: { 'retry-after': '7200' },
    json: { error: { ...TOO_FAST.json.error, message: ofToday } },
  };
  await page.route('**/api/create-api-key', (route) => route.fulfill(beyondToday), { times: 1 });
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('alert').getByText(`${ofToday} Try again in 2 hours.`).waitFor();

  await page.route('**/api/create-api-key', (route) => route.fulfill(TOO_FAST), { times: 1 });
  await page.getByRole('button', { name: 'Create key' }).click();
  await revealedKey().waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect.poll(() => row('Patience').count()).toBe(1);
});

test('an account with 100 keys is told to delete one', async () => {
  const bob = await createAccount(service, 'bob');
  for (let i = 0; i < 100; i += 10)
    await Promise.all(Array.from({ length: 10 }, async () => bob.addKey({ name: 'Many' })));
  const other = await visitAs(bob);
  await other.page.goto('/keys');
  await other.page.getByRole('button', { name: 'Create API key' }).first().click();
  await other.page.getByLabel('Name').fill('One more');
  await other.page.getByRole('button', { name: 'Create key' }).click();
  const alert = other.page.getByRole('alert');
  await expect
    .poll(() => alert.textContent())
    .toContain('An account has at most 100 live API keys. Delete one first.');
});

test('the page logs no errors to the console except for failed requests', () => {
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
