import { beforeAll, expect, test } from 'vitest';
import type { Visit } from '../support/browser.ts';
import { type Customer, openAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// One developer's API keys, from the first to the last.

let ada: Customer;
let visit: Visit;

beforeAll(async () => {
  ada = await openAccount(service, 'ada');
  visit = await visitAs(ada);
  await visit.page.goto('/keys');
});

const clipboard = async (): Promise<string> =>
  String(await visit.page.evaluate('navigator.clipboard.readText()'));
const row = (name: string) => visit.page.getByRole('row').filter({ hasText: name });
const shownKey = () => visit.page.locator('[data-secret]');
const verify = (apiKey: string) => ada.verify(apiKey, 'no-such-license');

let production: string;

test('an account without keys is told what they are for', async () => {
  const { page } = visit;
  await page.getByText('No API keys yet').waitFor();
  expect(await page.getByRole('button', { name: 'Create API key' }).count()).toBe(2);
});

test('a new key is shown in full with a button that copies it, and works', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await page.getByLabel('Name').fill('Production');
  await page.getByRole('button', { name: 'Create key' }).click();
  production = (await shownKey().textContent()) ?? '';
  expect(production).toMatch(/^lk_live_[0-9A-Za-z]{40,}$/);
  await page.getByRole('dialog').getByRole('button', { name: 'Copy key' }).click();
  await expect.poll(clipboard).toBe(production);
  expect((await verify(production)).status).toBe(200);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
});

test('afterwards the list has it masked, with what it may do and when it was last used', async () => {
  const { page } = visit;
  await page.reload();
  const text = await row('Production').textContent();
  expect(text).toContain(`${production.slice(0, 12)}********${production.slice(-4)}`);
  expect(text).toMatch(/Full.*just now.*just now/);
  expect(await page.content()).not.toContain(production);
});

test('it can be copied and revealed again, and is gone from the page when the dialog closes', async () => {
  const { page } = visit;
  await page.evaluate(`navigator.clipboard.writeText('')`);
  await row('Production').getByRole('button', { name: 'Copy key' }).click();
  await expect.poll(clipboard).toBe(production);
  await row('Production').getByRole('button', { name: 'Reveal key' }).click();
  await expect.poll(() => shownKey().textContent()).toBe(production);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.content()).not.toContain(production);
});

test('a key for verifying only is refused elsewhere, and one that ends says when', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Name').fill('In the app');
  await page.getByLabel('Verify licenses only').check();
  await page.getByLabel('Last day').fill('2099-12-31');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await shownKey().textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  expect((await verify(key)).status).toBe(200);
  expect((await service.get('/api/dashboard', { 'x-api-key': key })).status).toBe(403);
  await expect.poll(() => row('In the app').textContent()).toMatch(/Expires in \d+ years.*Verify only/);
});

test('a last day in the past is refused at its field', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByLabel('Last day').fill('2020-01-01');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Must be in the future').waitFor();
  expect(await page.getByLabel('Last day').getAttribute('aria-invalid')).toBe('true');
  await page.keyboard.press('Escape');
});

test('deleting one takes its name, and from then on it is refused', async () => {
  const { page } = visit;
  await row('Production').getByRole('button', { name: 'More for Production' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const confirm = page.getByRole('button', { name: 'Delete key' });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel('Type Production to confirm').fill('production');
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel('Type Production to confirm').fill('Production');
  await confirm.click();
  await page.getByText('API key deleted').waitFor();
  await expect.poll(() => page.getByRole('alertdialog').count()).toBe(0);
  expect(await row('Production').count()).toBe(0);
  const refused = await verify(production);
  expect([refused.status, refused.body]).toMatchObject([403, { error: { code: 'api_key_invalid' } }]);
});

test('if the service can’t be reached the page says so, and trying again mends it', async () => {
  const { page } = visit;
  await page.route('**/api/api-keys*', (route) =>
    route.fulfill({
      status: 500,
      json: { error: { code: 'internal_error', message: 'Internal Server Error', request_id: 'req_broken' } },
    }),
  );
  await page.reload();
  const alert = page.getByRole('alert');
  await alert.getByText('Internal Server Error').waitFor();
  expect(await alert.textContent()).toContain('req_broken');
  await page.unroute('**/api/api-keys*');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => row('In the app').count()).toBe(1);
});

test('nothing of this was against the page’s policy', () => {
  expect(visit.faults.filter((fault) => !fault.startsWith('Failed to load resource'))).toEqual([]);
});
