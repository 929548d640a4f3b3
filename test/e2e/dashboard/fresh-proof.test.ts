import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount, PASSWORD } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// A session older than ten minutes. The browser hears so instead of the service, once for each call; the rest is real.

const STALE = JSON.stringify({
  error: { code: 'reauthentication_required', message: 'Enter Your Password Again', request_id: 'req_1' },
});

let ada: Customer;
let page: Page;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  ({ page } = await visitAs(ada));
});

/** Makes the session stale for the next such call. */
const goStaleFor = async (method: string, path: string, stale = page) => {
  let isStale = true;
  await stale.route(path, (route) => {
    if (!isStale || route.request().method() !== method) return route.fallback();
    isStale = false;
    return route.fulfill({ status: 401, contentType: 'application/json', body: STALE });
  });
};

const prompt = () => page.getByRole('dialog', { name: 'Confirm it’s you' });
const countProofs = () => {
  const proofs: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/reauthenticate')) proofs.push(request.method());
  });
  return proofs;
};

test('a call that needs a fresh proof asks for the password within its dialog, and goes on', async () => {
  await openPage(page, '/keys');
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await page.getByLabel('Name').fill('Production');
  await goStaleFor('POST', '**/api/create-api-key');
  await page.getByRole('button', { name: 'Create key' }).click();
  await prompt().waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password');
  await prompt().getByLabel('Your password').fill('not-the-password');
  await prompt().getByRole('button', { name: 'Continue' }).click();
  await page.getByText('The password is wrong.').waitFor();
  await prompt().getByLabel('Your password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('[data-secret]').textContent()).toMatch(/^lk_live_/);
  await expect.poll(() => prompt().count()).toBe(0);
  await page.getByRole('button', { name: 'Done' }).click();
});

test('a page without a dialog asks, and shows why nothing happened when the user declines', async () => {
  await openPage(page, '/settings/export');
  await goStaleFor('GET', '**/api/export');
  await page.getByRole('button', { name: 'Download export' }).click();
  await prompt().getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => page.getByRole('alert').innerText()).toContain('Enter Your Password Again');
});

test('the question ends with the session, and isn’t on the page on which one signs in', async () => {
  const { context, page: other } = await visitAs(ada);
  await openPage(other, '/settings/export');
  await goStaleFor('GET', '**/api/export', other);
  await other.getByRole('button', { name: 'Download export' }).click();
  const question = other.getByRole('dialog', { name: 'Confirm it’s you' });
  await question.waitFor();
  await context.clearCookies();
  await question.getByLabel('Your password').fill(PASSWORD);
  await question.getByRole('button', { name: 'Continue' }).click();
  await other.getByText('Your session has ended.').waitFor();
  await expect.poll(() => question.count()).toBe(0);
});

test('a form that has the password proves the session with it, without another question', async () => {
  const proofs = countProofs();
  await openPage(page, '/settings/password');
  await goStaleFor('POST', '**/api/change-password');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password').fill('another long password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect.poll(() => proofs).toEqual(['POST']);
  await waitForToast(page, 'Password changed');
  await expect.poll(() => prompt().count()).toBe(0);
});
