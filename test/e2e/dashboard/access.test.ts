import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount, PASSWORD } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';
import { waitForLink } from '../support/mails.ts';

// How the user of one account gets back in, and who else is signed in. Each test continues where the previous test ended.

const NEW_PASSWORD = 'another horse battery';

let ada: Customer;
let page: Page;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  ({ page } = await visit());
});

const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

describe('a forgotten password', () => {
  test('the sign-in page sends a link, and says where a local run shows the email', async () => {
    await openPage(page, '/login');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await heading('Reset your password');
    await page.getByLabel('Email').fill(ada.email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await heading('Check your email');
    const preview = page.getByRole('link', { name: 'Read the email here' });
    await expect.poll(() => preview.getAttribute('href')).toBe('/cdn-cgi/local/explorer/email/sending');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('the link sets a new password and signs in', async () => {
    await page.goto(await waitForLink(service.origin, ada.email, 'Reset your password'));
    await heading('Choose a new password');
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await heading('Home');
    const old = await service.post('/api/login', { email: ada.email, password: PASSWORD });
    expect(old.status).toBe(401);
  });

  test('the link works once', async () => {
    const { context, page: other } = await visit();
    await other.goto(await waitForLink(service.origin, ada.email, 'Reset your password'));
    await other.getByLabel('New password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Set password' }).click();
    await other.getByRole('heading', { name: 'This link doesn’t work' }).waitFor();
    expect(await axeViolations(other)).toEqual([]);
    await context.close();
  });
});

describe('the settings', () => {
  test('the account menu leads to the settings, and the name can be changed', async () => {
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Settings' }).click();
    await heading('Settings');
    await page.getByLabel('Name').fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Save name' }).click();
    await expect
      .poll(() => page.getByRole('button', { name: 'Account menu' }).textContent())
      .toContain('Ada Lovelace');
  });

  test('the box of an email keeps the focus while the choice is saved', async () => {
    const box = page.getByRole('checkbox', { name: /^Usage/ });
    await box.press('Space');
    await waitForToast(page, 'Emails saved');
    await expect.poll(() => box.isChecked()).toBe(false);
    await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('checkbox');
  });

  test('a choice of emails that another tab has made meanwhile stays', async () => {
    const isWanted = (name: RegExp) => page.getByRole('checkbox', { name }).isChecked();
    await page.evaluate(`fetch('/api/account', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ muted_emails: ['usage', 'limits'] }),
    })`);
    await page.getByRole('checkbox', { name: /^Webhooks/ }).press('Space');
    await waitForToast(page, 'Emails saved');
    await page.reload();
    await page.getByRole('checkbox', { name: /^Usage/ }).waitFor();
    expect(await Promise.all([/^Usage/, /^Limits/, /^Billing/, /^Webhooks/].map(isWanted))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  test('a new email address takes effect when its email is confirmed', async () => {
    const changed = `new-${ada.email}`;
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('New email address').fill(changed);
    await page.getByLabel('Your password').fill('not the password');
    await page.getByRole('button', { name: 'Change email address' }).click();
    await page.getByText('The password is wrong.').waitFor();
    await page.getByLabel('Your password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Change email address' }).click();
    await page.getByText(`Changes to ${changed}`).waitFor();
    await page.goto(await waitForLink(service.origin, changed, 'Confirm your new email address'));
    await page.getByRole('button', { name: 'Verify email address' }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
    await expect.poll(() => page.getByRole('main').textContent()).toContain(changed);
    ada = { ...ada, email: changed };
  });

  test('changing the password ends other sessions, and the form is empty afterwards', async () => {
    const login = { email: ada.email, password: NEW_PASSWORD };
    expect((await service.post('/api/login', login)).status).toBe(200);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    await page.getByRole('link', { name: 'Password' }).click();
    await page.getByLabel('Current password').fill(NEW_PASSWORD);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await waitForToast(page, 'Password changed');
    await expect.poll(() => page.getByLabel('New password').inputValue()).toBe('');
    await page.getByRole('link', { name: 'Sessions' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByText('on Linux').waitFor();
  });

  test('one session, or all others, can be ended', async () => {
    const login = { email: ada.email, password: PASSWORD };
    for (let i = 0; i < 3; i++) expect((await service.post('/api/login', login)).status).toBe(200);
    await openPage(page, '/settings/sessions');
    await page
      .getByRole('button', { name: /^End the session of / })
      .first()
      .click();
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('button', { name: 'End sessions' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByText('This session').waitFor();
  });

  test('the audit log says what happened, and can be filtered', async () => {
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('cell', { name: 'Password changed' }).waitFor();
    await page.getByLabel('Action').selectOption({ label: 'Password reset' });
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(new URL(page.url()).search).toBe('?action=password.reset');
    // Slowly enough that the year 2 and the year 20 are looked for.
    await page.getByLabel('From').pressSequentially('01012099', { delay: 250 });
    await page.getByText('No entry matches').waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?action=password.reset&from=2099-01-01');
    // It isn't said of a filter whose entries are still on their way.
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/audit-log?*', async (held) => {
      await isReleased;
      await held.continue();
    });
    await page.getByLabel('Action').selectOption({ label: 'All actions' });
    await expect.poll(() => page.getByText('No entry matches').count()).toBe(0);
    release();
    await page.getByText('No entry matches').waitFor();
    await page.unroute('**/api/audit-log?*');
    await page.getByRole('button', { name: 'Show all entries' }).click();
    await page.getByRole('cell', { name: 'Account created' }).waitFor();
    const actorOf = (action: string) =>
      page.getByRole('row').filter({ hasText: action }).first().getByRole('cell').nth(1).textContent();
    await expect.poll(() => actorOf('Session ended')).toContain('You, in this browser');
    await expect.poll(() => actorOf('Account created')).toContain('A session that has ended');
    await expect.poll(() => actorOf('Email address changed')).toContain('You, in this browser');
  });
});

test('a service that can’t send email offers nothing that needs it', async () => {
  const carol = await createAccount(service, 'carol');
  const { context, page: other } = await visitAs(carol);
  const health = { status: 'ok', version: '1', time: new Date().toISOString() };
  await other.route('**/health', (route) =>
    route.fulfill({ json: { ...health, checks: { database: 'ok', mail: 'not_configured' } } }),
  );
  const answered = other.waitForResponse('**/health');
  await openPage(other, '/settings');
  await answered;
  const card = other.getByRole('region', { name: 'Email address' });
  await card.getByText(carol.email).waitFor();
  await expect.poll(() => card.getByRole('button').count()).toBe(0);
  await expect.poll(() => card.getByText(/verified/i).count()).toBe(0);
  await context.clearCookies();
  await other.evaluate('localStorage.clear()');
  await other.goto('/login');
  await other.getByRole('button', { name: 'Sign in' }).waitFor();
  await expect.poll(() => other.getByRole('link', { name: 'Forgot your password?' }).isVisible()).toBe(false);
  await other.goto('/forgot-password');
  await other.getByText('This service can’t send email.').waitFor();
  await expect.poll(() => other.getByLabel('Email').count()).toBe(0);
  await context.close();
});

test('a session of another browser is asked to sign in again', async () => {
  const other = await visitAs(ada);
  await other.page.goto('/settings/password');
  await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(new URL(other.page.url()).pathname).toBe('/login');
  await other.context.close();
});

test('a deleted account is signed out, its keys are refused, and signing in keeps it', async () => {
  const eve = await createAccount(service, 'eve');
  const { api_key: apiKey } = await eve.addKey();
  const { context, page: other } = await visitAs(eve);
  await openPage(other, '/settings/delete');
  const confirm = other.getByRole('button', { name: 'Delete account' });
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await other.getByLabel('Your password').fill('not the password');
  await other.getByLabel('Type your email address to confirm').fill(eve.email);
  await confirm.click();
  await other.getByText('The password is wrong.').waitFor();
  await other.getByLabel('Your password').fill(PASSWORD);
  await confirm.click();
  await other.getByText('Your account will be deleted on').waitFor();
  expect((await eve.verify(apiKey, 'no-such-license')).status).toBe(403);
  await other.getByLabel('Email').fill(eve.email);
  await other.getByLabel('Password').fill(PASSWORD);
  await other.getByRole('button', { name: 'Sign in' }).click();
  await other.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await expect.poll(async () => (await eve.verify(apiKey, 'no-such-license')).status).toBe(200);
  await context.close();
});
