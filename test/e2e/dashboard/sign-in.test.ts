import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPage, stopFollowing } from '../support/browser.ts';
import { createAccount, PASSWORD, uniqueEmail } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';

/** The message that a browser logs for every response with a 4xx status. */
const isClientError = (text: string) => /^Failed to load resource: .* status of 4\d\d/.test(text);

const fillIn = async (page: Page, fields: Record<string, string>) => {
  for (const [label, text] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(text);
};

describe('a new account', () => {
  const email = uniqueEmail('ada');
  let page: Page;
  let consoleErrors: string[];

  beforeAll(async () => {
    ({ page, consoleErrors } = await visit());
  });

  test('a visitor is asked to sign in, without a failed request', async () => {
    await page.goto('/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(consoleErrors).toEqual([]);
  });

  test('an invalid field shows its error and gets the focus', async () => {
    await page.getByRole('link', { name: 'Create one' }).click();
    await page.getByRole('heading', { name: 'Create your account' }).waitFor();
    await fillIn(page, { Email: email, Password: 'short' });
    await page.getByRole('button', { name: 'Create account' }).click();
    const password = page.getByLabel('Password');
    await expect.poll(() => password.getAttribute('aria-invalid')).toBe('true');
    const errorId = await password.getAttribute('aria-describedby');
    await expect
      .poll(() => page.locator(`[id="${errorId}"]`).textContent())
      .toMatch(/at least 10 characters/);
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password');
  });

  test('the form can be filled in by a password manager', async () => {
    await expect.poll(() => page.getByLabel('Email').getAttribute('autocomplete')).toBe('username');
    await expect.poll(() => page.getByLabel('Password').getAttribute('autocomplete')).toBe('new-password');
  });

  test('registering in a chosen region opens the home page', async () => {
    await page.getByLabel('Region').selectOption({ label: 'Southeast Asia' });
    await page.getByLabel('Password').fill(PASSWORD);
    const answer = page.waitForResponse(/\/api\/register$/);
    await page.getByLabel('Password').press('Enter');
    expect((await (await answer).json()).account.home_region).toBe('apac-se');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    await expect.poll(() => page.title()).toBe('Home · Latchkey');
    expect(consoleErrors.filter((text) => !isClientError(text))).toEqual([]);
  });

  test('scripts can’t read the session', async () => {
    const stored = String(await page.evaluate('JSON.stringify(localStorage) + document.cookie'));
    expect(stored).not.toContain('lks_');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Lax' });
  });

  test('registering the same email address again shows an error at its field', async () => {
    const { context, page: other } = await visit();
    await other.goto('/register');
    await fillIn(other, { Email: email, Password: PASSWORD });
    await other.getByRole('button', { name: 'Create account' }).click();
    await other.getByText('An account with this email address already exists.').waitFor();
    await expect.poll(() => other.evaluate('document.activeElement.name')).toBe('email');
    await context.close();
  });

  test('after signing out, neither the page nor the Back button shows the account', async () => {
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.content()).not.toContain(email);
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });

  test('a wrong password shows an error, and the right one signs in', async () => {
    await fillIn(page, { Email: email, Password: 'not the password' });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Wrong Email or Password').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });
});

describe('returning to the requested page', () => {
  test('a session that ends while the page is open leads to signing in and back', async () => {
    const customer = await createAccount(service, 'bob');
    const { context, page } = await visitAs(customer);
    await stopFollowing(page);
    // Until then, the page asks for its data, and would find the end of the session by itself.
    await openPage(page, '/licenses?status=expired');
    await customer.post('/api/logout');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await fillIn(page, { Email: customer.email, Password: PASSWORD });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/keys');
    await context.close();
  });

  test('signing in keeps the search parameters of the requested page', async () => {
    const customer = await createAccount(service, 'eve');
    const { context, page } = await visit();
    await page.goto('/licenses?status=expired');
    await fillIn(page, { Email: customer.email, Password: PASSWORD });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Licenses' }).waitFor();
    expect(page.url()).toBe(`${service.origin}/licenses?status=expired`);
    await context.close();
  });

  test.for(['//evil.example/', 'https://evil.example/', '/\\evil.example', '/\t/evil.example'])(
    'ignores the return URL %s of another site',
    async (next) => {
      const customer = await createAccount(service, 'mal');
      const { context, page } = await visit();
      await page.goto(`/login?next=${encodeURIComponent(next)}`);
      await fillIn(page, { Email: customer.email, Password: PASSWORD });
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      expect(new URL(page.url()).origin).toBe(service.origin);
      await context.close();
    },
  );
});
