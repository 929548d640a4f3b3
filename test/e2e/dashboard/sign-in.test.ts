import { beforeAll, describe, expect, test } from 'vitest';
import type { Visit } from '../support/browser.ts';
import { newEmail, openAccount, PASSWORD } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';

/** What a browser says by itself of an answer that is no 2xx. */
const isRefusal = (fault: string) => /^Failed to load resource: .* status of 4\d\d/.test(fault);

const fillIn = async ({ page }: Visit, fields: Record<string, string>) => {
  for (const [label, text] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(text);
};

describe('a new developer', () => {
  const email = newEmail('ada');
  let ada: Visit;

  beforeAll(async () => {
    ada = await visit();
  });

  test('who opens the dashboard is asked to sign in, without a request that fails', async () => {
    await ada.page.goto('/');
    await ada.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(ada.faults).toEqual([]);
  });

  test('is told at the field what is wrong with it, and the field has the focus', async () => {
    const { page } = ada;
    await page.getByRole('link', { name: 'Create one' }).click();
    await page.getByRole('heading', { name: 'Create your account' }).waitFor();
    await fillIn(ada, { 'E-mail': email, Password: 'short' });
    await page.getByRole('button', { name: 'Create account' }).click();
    const password = page.getByLabel('Password');
    await expect.poll(() => password.getAttribute('aria-invalid')).toBe('true');
    const errorId = await password.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${errorId}"]`).textContent()).toMatch(/at least 10 characters/);
    expect(await page.evaluate('document.activeElement.name')).toBe('password');
  });

  test('has forms that a password manager can fill in', async () => {
    const { page } = ada;
    expect(await page.getByLabel('E-mail').getAttribute('autocomplete')).toBe('username');
    expect(await page.getByLabel('Password').getAttribute('autocomplete')).toBe('new-password');
  });

  test('is in the dashboard right after registering', async () => {
    const { page } = ada;
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByLabel('Password').press('Enter');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    expect(await page.title()).toBe('Home · Latchkey');
    expect(ada.faults.filter((fault) => !isRefusal(fault))).toEqual([]);
  });

  test('keeps no session where a script could read it', async () => {
    const stored = String(await ada.page.evaluate('JSON.stringify(localStorage) + document.cookie'));
    expect(stored).not.toContain('lks_');
    const [cookie] = await ada.context.cookies();
    expect(cookie).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Lax' });
  });

  test('can’t register the same address twice, and is told so at the field', async () => {
    const other = await visit();
    await other.page.goto('/register');
    await fillIn(other, { 'E-mail': email, Password: PASSWORD });
    await other.page.getByRole('button', { name: 'Create account' }).click();
    await other.page.getByText('There is an account with this e-mail already.').waitFor();
    expect(await other.page.evaluate('document.activeElement.name')).toBe('email');
    await other.context.close();
  });

  test('signs out, and nothing of the account is left on the page or behind the Back button', async () => {
    const { page } = ada;
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.content()).not.toContain(email);
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });

  test('signs in again; a wrong password is told from a right one by one sentence', async () => {
    const { page } = ada;
    await fillIn(ada, { 'E-mail': email, Password: 'not the password' });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Wrong Email or Password').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });
});

describe('a session that ends while the page is open', () => {
  test('leads to signing in, and from there back to where one was', async () => {
    const customer = await openAccount(service, 'bob');
    const bob = await visitAs(customer);
    await bob.page.goto('/licenses?status=expired');
    await bob.page.getByRole('heading', { name: 'Licenses' }).waitFor();
    await customer.post('/api/logout');
    await bob.page.getByRole('link', { name: 'API keys' }).click();
    await bob.page.getByText('Your session has ended.').waitFor();
    await fillIn(bob, { 'E-mail': customer.email, Password: PASSWORD });
    await bob.page.getByRole('button', { name: 'Sign in' }).click();
    await bob.page.getByRole('heading', { name: 'API keys' }).waitFor();
    expect(new URL(bob.page.url()).pathname).toBe('/keys');
    await bob.context.close();
  });

  test('also keeps the filters of the page that was asked for', async () => {
    const customer = await openAccount(service, 'eve');
    const eve = await visit();
    await eve.page.goto('/licenses?status=expired');
    await fillIn(eve, { 'E-mail': customer.email, Password: PASSWORD });
    await eve.page.getByRole('button', { name: 'Sign in' }).click();
    await eve.page.getByRole('heading', { name: 'Licenses' }).waitFor();
    expect(eve.page.url()).toBe(`${service.origin}/licenses?status=expired`);
    await eve.context.close();
  });

  test.each(['//evil.example/', 'https://evil.example/', '/\\evil.example', '/\t/evil.example'])(
    'never leads to another site, as %s would',
    async (next) => {
      const customer = await openAccount(service, 'mal');
      const mal = await visit();
      await mal.page.goto(`/login?next=${encodeURIComponent(next)}`);
      await fillIn(mal, { 'E-mail': customer.email, Password: PASSWORD });
      await mal.page.getByRole('button', { name: 'Sign in' }).click();
      await mal.page.getByRole('heading', { name: 'Home' }).waitFor();
      expect(new URL(mal.page.url()).origin).toBe(service.origin);
      await mal.context.close();
    },
  );
});
