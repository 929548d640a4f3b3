import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage } from '../support/browser.ts';
import { type Customer, createAccount, PASSWORD } from '../support/customer.ts';
import { downloadBy, service, visitAs } from '../support/dashboard.ts';

// Two-factor authentication of one account. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let totp: TOTP;
let recoveryCodes: string[];

const STEP_MS = 30_000;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  ({ page } = await visitAs(ada, { width: 375 }));
  await openPage(page, '/settings');
});

const signOutAndIn = async () => {
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  // Other pages have fields with similar labels.
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Email').fill(ada.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
};

test('a code of the scanned secret turns it on, and the recovery codes are shown once', async () => {
  await page.getByRole('link', { name: 'Two-factor' }).click();
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  totp = new TOTP({ secret: Secret.fromBase32((await page.locator('[data-secret]').textContent()) ?? '') });
  expect(await axeViolations(page)).toEqual([]);
  await page.getByLabel('Code that the app shows').fill('000000');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('The code is wrong').waitFor();
  await page.getByLabel('Code that the app shows').fill(totp.generate());
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('dialog', { name: 'Save your recovery codes' }).waitFor();
  recoveryCodes = await page
    .getByRole('list', { name: 'Recovery codes' })
    .getByRole('listitem')
    .allTextContents();
  expect(new Set(recoveryCodes).size).toBe(10);
  expect(await axeViolations(page)).toEqual([]);
  const { text } = await downloadBy(page, page.getByRole('button', { name: 'Download codes' }));
  expect(text).toBe(`${recoveryCodes.join('\n')}\n`);
  // They can't be shown again, so neither Escape nor a click beside the dialog takes them away.
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  await page.getByRole('button', { name: 'I have saved the codes' }).click();
  await page.getByText('On', { exact: true }).waitFor();
  await expect.poll(() => page.content()).not.toContain(recoveryCodes[0]);
});

test('a sign-in asks for a code, which works once', async () => {
  await signOutAndIn();
  expect(await axeViolations(page)).toEqual([]);
  const code = totp.generate({ timestamp: Date.now() + STEP_MS });
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await signOutAndIn();
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The code is wrong or was already used.').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('code');
});

test('new recovery codes take the place of those of before', async () => {
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCodes[0] ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await openPage(page, '/settings/two-factor');
  await page.getByRole('button', { name: 'New recovery codes' }).click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByLabel('Code', { exact: true }).fill(recoveryCodes[1] ?? '');
  await page.getByRole('button', { name: 'Make new codes' }).click();
  await page.getByRole('dialog', { name: 'Save your recovery codes' }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  const list = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  const before = recoveryCodes;
  recoveryCodes = await list.allTextContents();
  expect(new Set([...before, ...recoveryCodes]).size).toBe(20);
  await page.getByRole('button', { name: 'I have saved the codes' }).click();
});

test('deleting the account asks for a code', async () => {
  await openPage(page, '/settings/delete');
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByLabel('Code').fill('000000');
  await page.getByLabel('Type your email address to confirm').fill(ada.email);
  await page.getByRole('button', { name: 'Delete account' }).click();
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('code is wrong');
});

test('a recovery code signs in, and another one turns it off', async () => {
  await signOutAndIn();
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCodes[0] ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await openPage(page, '/settings/two-factor');
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByLabel('Code').fill(recoveryCodes[0] ?? '');
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('The password or code is wrong').waitFor();
  await page.getByLabel('Code').fill(recoveryCodes[1] ?? '');
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Off', { exact: true }).waitFor();
  const login = await service.post('/api/login', { email: ada.email, password: PASSWORD });
  expect(login.status).toBe(200);
});
