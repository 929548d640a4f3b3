import { expect, test } from 'vitest';
import { axeViolations, openPage } from '../support/browser.ts';
import { createAccount } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';

test('an unknown URL shows a 404 page inside the shell, with a link to the home page', async () => {
  const { page, consoleErrors } = await visitAs(await createAccount(service, 'ada'));
  await openPage(page, '/no/such/page?tab=x');
  await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found');
  await expect.poll(() => page.title()).toBe('Page not found · Latchkey');
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Licenses' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Go to Home' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/');
  expect(consoleErrors).toEqual([]);
});

test('an unknown URL asks signed-out visitors to sign in', async () => {
  const { page, consoleErrors } = await visit();
  await openPage(page, '/no/such/page');
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  expect(consoleErrors).toEqual([]);
});
