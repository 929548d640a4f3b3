import type { Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { waitForToast } from '../support/browser.ts';
import { createAccount } from '../support/customer.ts';
import { service, visitAs, withClipboard } from '../support/dashboard.ts';

/** Lets a page copy only while a click is handled, as Safari does. */
const ONLY_WITHIN_CLICK = `{
  let isInClick = false;
  addEventListener('click', () => {
    isInClick = true;
    setTimeout(() => { isInClick = false; });
  }, true);
  for (const name of ['write', 'writeText']) {
    const write = navigator.clipboard[name].bind(navigator.clipboard);
    navigator.clipboard[name] = (content) =>
      isInClick ? write(content) : Promise.reject(new Error('This is not within the click.'));
  }
}`;

/** As in an older browser. */
const WITHOUT_ITEMS = `delete window.ClipboardItem;`;

test('a key that is fetched first is copied once by a double click, in a browser without clipboard items, too', async () => {
  const ada = await createAccount(service, 'ada');
  const { api_key: apiKey, id } = await ada.addKey({ name: 'Production' });
  for (const script of ['', WITHOUT_ITEMS]) {
    const { page } = await visitAs(ada);
    await page.addInitScript(script);
    const held: Route[] = [];
    await page.route(`**/api/api-keys/${id}`, (route) => void held.push(route));
    await page.goto('/keys');
    await withClipboard(async () => {
      await page.getByRole('button', { name: 'Copy key' }).dblclick();
      await expect.poll(() => held.length).toBe(1);
      await held[0]?.continue();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(apiKey);
      await page.evaluate(`navigator.clipboard.writeText('')`);
    });
    expect(held.length).toBe(1);
  }
});

test('a key that is fetched first is copied in a browser that allows it only within the click', async () => {
  const ada = await createAccount(service, 'ada');
  const { api_key: apiKey } = await ada.addKey({ name: 'Production' });
  const { page } = await visitAs(ada);
  await page.addInitScript(ONLY_WITHIN_CLICK);
  await page.goto('/keys');
  const copy = page.getByRole('button', { name: 'Copy key' });
  await withClipboard(async () => {
    await copy.click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(apiKey);
  });
  await page.reload();
  await page.route('**/api/api-keys/*', (route) =>
    route.fulfill({
      status: 500,
      json: { error: { code: 'internal_error', message: 'Internal Server Error', request_id: 'req_broken' } },
    }),
  );
  await copy.click();
  await waitForToast(page, /Internal Server Error/, 'error');
});
