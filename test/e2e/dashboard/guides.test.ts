import { describe, expect, test } from 'vitest';
import { axeViolations, openPage } from '../support/browser.ts';
import { createAccount } from '../support/customer.ts';
import { service, visit, visitAs, withClipboard } from '../support/dashboard.ts';

const IS_TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
const PAGES = ['/docs', '/docs/applications', '/docs/api', '/docs/api/applications'];

describe('the guides', () => {
  test.for(PAGES)('%s has no axe violations and doesn’t scroll sideways, in both themes', async (path) => {
    const { page, context, consoleErrors } = await visit({ width: 1_440 });
    await openPage(page, path);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of [1_440, 390, 320]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate(IS_TOO_WIDE), `${theme} at ${width} px`).toBe(false);
      }
      expect(await axeViolations(page), `${theme} at 320 px`).toEqual([]);
      await page.setViewportSize({ width: 1_440, height: 900 });
      expect(await axeViolations(page), `${theme} at 1440 px`).toEqual([]);
    }
    expect(consoleErrors).toEqual([]);
    await context.close();
  });

  test('the search finds a page and a call with the keyboard alone', async () => {
    const { page, consoleErrors } = await visit();
    await openPage(page, '/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('offline file');
    await page.locator('#results a').first().waitFor();
    await expect.poll(() => page.getByRole('status').textContent()).toMatch(/^\d+ results?$/);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('#results').isHidden()).toBe(true);
    await page.getByLabel('Search the guides').fill('suspend a license');
    const result = page.getByRole('link', { name: /^Suspend a license/ });
    await result.waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/api/licenses#suspend-a-license');
    await page.getByRole('heading', { level: 2, name: 'Suspend a license' }).waitFor();
    expect(consoleErrors).toEqual([]);
  });

  test('the search says so if it finds nothing', async () => {
    const { page } = await visit();
    await openPage(page, '/docs');
    await page.getByLabel('Search the guides').fill('xylophone');
    await page.getByText('0 results').waitFor();
    await expect.poll(() => page.locator('#results').isHidden()).toBe(true);
  });

  test('the theme that is chosen is kept, also for the dashboard', async () => {
    const { page } = await visit({ theme: 'light' });
    await openPage(page, '/docs');
    const color = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    const light = await color();
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await expect.poll(color).not.toBe(light);
    await openPage(page, '/docs/tokens');
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await openPage(page, '/login');
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  });

  test('code has the service’s own address, and copies', async () => {
    const { page } = await visit();
    await openPage(page, '/docs/applications');
    const code = page.locator('.code', { hasText: 'baseUrl' }).first();
    await code.getByText(`baseUrl: '${service.origin}'`).waitFor();
    await expect.poll(() => page.locator('article').textContent()).not.toContain('latchkey.example.com');
    await withClipboard(async () => {
      await code.getByRole('button', { name: 'Copy' }).click();
      await code.getByRole('button', { name: 'Copied' }).waitFor();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain(service.origin);
    });
  });

  test('whoever is signed in sees their account and the name of their key, and no key', async () => {
    const ada = await createAccount(service, 'ada');
    await ada.addKey({ name: 'Server' });
    const { api_key: secret, masked_key: masked } = await ada.addKey({
      name: 'Orrery for Mac',
      scope: 'verify',
    });
    const { page, consoleErrors } = await visitAs(ada);
    await openPage(page, '/docs/applications');
    const values = page.locator('#values');
    await values.getByText('Orrery for Mac').waitFor();
    await expect.poll(() => values.textContent()).toContain(ada.accountId);
    await expect.poll(() => page.locator('article').textContent()).toContain('yours is “Orrery for Mac”');
    await openPage(page, '/docs');
    await page.locator('article').getByText(ada.accountId).first().waitFor();
    const html = await page.content();
    for (const hidden of [secret, masked, ada.token]) expect(html).not.toContain(hidden);
    expect(consoleErrors).toEqual([]);
  });

  test('a session that has ended fills in nothing but the address', async () => {
    const ada = await createAccount(service, 'ada');
    const { page } = await visitAs({ ...ada, token: 'lks_ended' });
    const answered = page.waitForResponse('**/api/api-keys*');
    await openPage(page, '/docs');
    expect((await answered).status()).toBe(401);
    await page.locator('#values').getByText(service.origin).waitFor();
    expect(await page.content()).not.toContain(ada.accountId);
  });

  test('without JavaScript, a page has its text and its navigation, and no search', async () => {
    const { context } = await visit();
    const plain = await context.browser()?.newContext({ baseURL: service.origin, javaScriptEnabled: false });
    const page = await plain?.newPage();
    if (!page) throw new Error('The browser is closed.');
    await page.goto('/docs');
    await expect.poll(() => page.getByRole('searchbox').isVisible()).toBe(false);
    await expect.poll(() => page.locator('#theme').isVisible()).toBe(false);
    await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
    await plain?.close();
  });

  test('at 320 px the menu leads to every page', async () => {
    const { page } = await visit({ width: 320 });
    await openPage(page, '/docs');
    const menu = page.getByRole('navigation', { name: 'Guides' });
    await expect.poll(() => menu.isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Menu' }).click();
    await menu.getByRole('link', { name: 'Tokens' }).click();
    await page.waitForURL('**/docs/tokens');
    await expect.poll(() => menu.isVisible()).toBe(false);
  });
});
