import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { axeViolations, openPage, type Theme } from '../support/browser.ts';
import { downloadBy, service, visit } from '../support/dashboard.ts';
import { waitForLink } from '../support/mails.ts';
import { bodyOf, openLinkOf, openPortal, PORTAL_NAME } from '../support/portal.ts';

// The page for a seller's customers, as one of them uses it.

const NARROW = 320;
const IS_TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

/** Whoever sees the page: in both themes, on the narrowest phone, and with a screen reader. */
const expectGood = async (page: Page, what: string) => {
  for (const colorScheme of ['light', 'dark'] satisfies Theme[]) {
    await page.emulateMedia({ colorScheme });
    expect([what, colorScheme, await axeViolations(page)]).toEqual([what, colorScheme, []]);
  }
  await page.setViewportSize({ width: NARROW, height: 800 });
  expect([what, await page.evaluate(IS_TOO_WIDE)]).toEqual([what, false]);
  await page.setViewportSize({ width: 1_280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
};

test('a customer signs in by email, releases a seat, gets an offline file, and changes their key', async () => {
  const { key, slug, email, license, path } = await openPortal();
  const { context, page, consoleErrors } = await visit();
  await openPage(page, path);
  await page.getByRole('heading', { name: PORTAL_NAME }).waitFor();
  await page.getByLabel('Email address').waitFor();
  // The first call finds no session, which browsers write to the console.
  consoleErrors.length = 0;
  await expectGood(page, 'sign-in');
  await page.getByLabel('Email address').fill(email);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor();
  await expectGood(page, 'inbox');

  const link = await waitForLink(service.origin, email, `Sign in to ${PORTAL_NAME}`);
  expect(link).toContain(`${path}#token=`);
  // A scanner of the mail program opens the link, and runs its scripts.
  const scanner = await visit();
  await scanner.page.goto(link);
  await scanner.page.getByRole('button', { name: 'Sign in' }).waitFor();
  await scanner.context.close();

  // Pasted into the tab that waits for it, a link changes only the fragment of the address.
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(page.url()).not.toContain('token');
  await expectGood(page, 'link');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Orrery Pro' }).waitFor();
  await page.getByText('3 machines at a time').waitFor();
  expect(await page.content()).not.toContain(license.license_key);
  await page.getByRole('button', { name: 'Show key' }).click();
  await page.getByText(license.license_key).waitFor();

  await page.getByRole('button', { name: 'Machines' }).click();
  await page.getByText('2 of 3 seats taken').waitFor();
  await page.getByRole('button', { name: 'Release the seat of Studio' }).click();
  await expectGood(page, 'licenses');
  await page.getByRole('button', { name: 'Release the seat', exact: true }).click();
  await page.getByText('1 of 3 seats taken').waitFor();
  await expect.poll(() => page.getByText('Studio').count()).toBe(0);

  await page.getByRole('button', { name: 'Offline file' }).click();
  await page.getByLabel('Request code').fill('machine-three 0003');
  await page.getByRole('button', { name: 'Create the file' }).click();
  const file = await downloadBy(page, page.getByRole('button', { name: 'Download the file' }));
  expect(file).toMatchObject({
    name: 'license.latchkey',
    text: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
  });
  await page.getByRole('button', { name: 'Machines' }).click();
  await page.getByText(/An offline file holds this seat until/).waitFor();

  await page.getByRole('button', { name: 'Change the key' }).click();
  await page.getByRole('button', { name: 'Change it now' }).click();
  const newKey = await page.getByRole('status').getByRole('code').innerText();
  const verify = (license_key: string) => service.post('/api/v1/licenses/verify', { license_key }, key);
  expect(bodyOf(await verify(license.license_key)).status).toBe('not_found');
  expect(bodyOf(await verify(newKey)).status).toBe('active');
  await expectGood(page, 'all parts open');
  expect(consoleErrors).toEqual([]);

  // Another customer of the same seller.
  const other = bodyOf(
    await service.post('/api/v1/licenses/create', { customer_email: 'eve@example.com' }, key),
  );
  const foreign = await page.evaluate(
    `fetch('/portal-api/${slug}/licenses/${other.id}/key').then(({ status }) => status)`,
  );
  expect(foreign).toBe(404);
  await context.close();
});

test('an application’s link shows one license and leads back, and all sessions end at once', async () => {
  const opened = await openPortal({ allow: { change_email: true } });
  const { context, page } = await visit();
  await openLinkOf(page, opened, { return_url: 'https://example.com/app' });
  await page.getByRole('heading', { name: 'Orrery Pro' }).waitFor();
  await expect
    .poll(() => page.getByRole('link', { name: 'Back to the application' }).getAttribute('href'))
    .toBe('https://example.com/app');
  await expect.poll(() => page.getByRole('button', { name: 'Change the key' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Email me my keys' }).click();
  await page.getByText('An email with your keys is on its way.').waitFor();
  await page.getByRole('button', { name: 'Change my email address' }).click();
  await page.getByRole('button', { name: 'Where am I signed in?' }).click();
  await page.getByText('(this browser)').waitFor();
  await expectGood(page, 'account');
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByText('All sessions have ended.').waitFor();
  await openPage(page, opened.path);
  await page.getByLabel('Email address').waitFor();
  await context.close();
});

test('a customer whose session has ended elsewhere is signed out with the next click, also by “Sign out”', async () => {
  const opened = await openPortal();
  const { slug, license, path } = opened;
  const { context, page } = await visit();
  for (const name of ['Machines', 'Sign out']) {
    await openPage(page, '/docs');
    await openLinkOf(page, opened);
    await page.getByRole('button', { name: 'Show key' }).click();
    await page.getByText(license.license_key).waitFor();
    await page.evaluate(`fetch('/portal-api/${slug}/sessions', { method: 'DELETE' })`);
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByLabel('Email address').waitFor();
    expect(await page.content()).not.toContain(license.license_key);
  }
  expect(page.url()).toContain(path);
  await context.close();
});

test('what takes the place of a button that a customer has pressed has the focus', async () => {
  const opened = await openPortal();
  const { context, page } = await visit();
  await openLinkOf(page, opened);
  for (const [button, focused] of [
    ['Show key', /^Hide$/],
    ['Hide', /^Show key$/],
    ['Change the key', /^Your current key stops working/],
    ['Keep it', /^Change the key$/],
    ['Machines', /^Machines$/],
    ['Release the seat of Studio', /The application on Studio stops working/],
    ['Release the seat', /^Machines \(1 of 3 seats taken\)/],
    ['Change the key', /^Your current key stops working/],
    ['Change it now', /^Your new key is/],
  ] as const) {
    await page.getByRole('button', { name: button, exact: true }).press('Enter');
    const focus = page.locator(':focus');
    await expect.poll(() => focus.allTextContents()).toEqual([expect.stringMatching(focused)]);
  }
  await context.close();
});

test('a customer signs in with a license key and a code, and reads what went wrong', async () => {
  const { email, license, path } = await openPortal();
  const { context, page } = await visit();
  await openPage(page, path);
  await page.getByRole('button', { name: 'Use a license key' }).click();
  await page.getByLabel('License key').fill(license.license_key);
  await page.getByRole('button', { name: 'Send a code' }).click();
  await page.getByLabel('Code').fill('000000x');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This link or code has expired or was already used.').waitFor();
  await expectGood(page, 'code');
  expect(email).toContain('@');
  await page.goto(`${path}#token=lkl_forged`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Ask for another link' }).click();
  await page.getByLabel('Email address').waitFor();
  await context.close();
});

test('a portal that doesn’t exist, or is off, says so', async () => {
  const { key, path } = await openPortal();
  const { context, page } = await visit();
  await openPage(page, '/portal/nobody-has-this-one');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await service.put('/api/portal', { enabled: false }, key);
  await openPage(page, path);
  await page.getByRole('heading', { name: 'This page is off' }).waitFor();
  await expectGood(page, 'off');
  await context.close();
});

test('the page has the service’s Content-Security-Policy', async () => {
  const { path } = await openPortal();
  const { status, headers } = await service.get(path, { accept: 'text/html' });
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self';/,
  );
});
