import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// What happens to work that somebody leaves, and to what is shown only once.

let ada: Customer;
let page: Page;
let storeId: string;
let webhookId: string;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  for (let i = 6; i > 0; i--) await ada.addLicense({ license_key: `LEAVE-${i}-LICENSE` });
  await ada.addLicense({ license_key: 'ERASED-LICENSE', customer_email: 'grace@example.com' });
  await ada.putProduct('orrery');
  const store = await ada.post('/api/stores', { provider: 'gumroad', name: 'Shop', api_key: 'token' });
  storeId = (store as { id: string }).id;
  webhookId = (await ada.addWebhook({ url: 'http://127.0.0.1:9/hooks' })).id;
  ({ page, consoleErrors } = await visitAs(ada));
});

/** Holds back the calls that match, until they are let go. */
const holdBack = async (url: string, isHeld: (route: Route) => boolean = () => true) => {
  const held: Route[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    if (!isHeld(route)) return route.fallback();
    held.push(route);
    await released;
    // A page that has given up on the call doesn't wait for it any more.
    return route.continue().catch(() => undefined);
  });
  return { held, release };
};

/** Goes to another page without loading it anew, as a link or the Back button does. */
const goTo = (path: string) => page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
const pathname = () => new URL(page.url()).pathname;
const heading = (name: string) => page.getByRole('heading', { level: 1, name });
const question = () => page.getByRole('alertdialog', { name: 'Stop and leave this page?' });

const suspendAll = async () => {
  await openPage(page, '/products');
  await page.getByRole('link', { name: 'Licenses' }).first().click();
  await page.getByRole('checkbox', { name: 'Select all licenses shown' }).check();
  await page.getByRole('button', { name: 'Suspend', exact: true }).click();
  await page.getByRole('button', { name: 'Suspend 7 licenses' }).click();
};

test('an action on many licenses stays on the screen until it is stopped or done', async () => {
  const { held, release } = await holdBack('**/suspend');
  await suspendAll();
  await expect.poll(() => held.length).toBe(4);
  await page.keyboard.press('Escape');
  const dialog = page.getByRole('dialog', { name: 'Suspend licenses' });
  await dialog.getByRole('button', { name: 'Stop' }).click();
  release();
  await dialog.getByText('4 licenses suspended. Stopped before 3 licenses.').waitFor();
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByText('4 licenses reinstated.').waitFor();
  await page.unroute('**/suspend');
});

test('an action that waits because it is too fast sends nothing more once it is stopped', async () => {
  let refused = 0;
  await page.route('**/suspend', (route) => {
    refused++;
    return route.fulfill({
      status: 429,
      headers: { 'retry-after': '3' },
      json: { error: { code: 'rate_limit_exceeded', message: 'Rate Limit Exceeded', request_id: '' } },
    });
  });
  await suspendAll();
  await expect.poll(() => refused).toBe(4);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.unroute('**/suspend');
  await page.getByText('0 licenses suspended. Stopped before 7 licenses.').waitFor();
});

test('who leaves an action on many licenses is asked first, and leaving stops it', async () => {
  const { held, release } = await holdBack('**/suspend');
  await suspendAll();
  await expect.poll(() => held.length).toBe(4);
  await page.evaluate('history.back()');
  await question().getByRole('button', { name: 'Stay' }).click();
  await question().waitFor({ state: 'detached' });
  await expect.poll(pathname).toBe('/licenses');
  await page.evaluate('history.back()');
  await question().getByRole('button', { name: 'Stop and leave' }).click();
  await heading('Products').waitFor();
  release();
  await openPage(page, '/licenses');
  expect(held).toHaveLength(4);
  await page.unroute('**/suspend');
});

test('who leaves an import is asked first, and leaving stops it', async () => {
  const { held, release } = await holdBack('**/import?**', (route) =>
    route.request().url().includes('dry_run=false'),
  );
  await openPage(page, '/licenses/import');
  const file = {
    name: 'licenses.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('license_key\nIMPORTED-1\n'),
  };
  await page.getByLabel(/Choose/).setInputFiles(file);
  await page.getByRole('button', { name: 'Import 1 row' }).click();
  await expect.poll(() => held.length).toBe(1);
  await page.getByRole('link', { name: 'Products' }).first().click();
  const aborted: string[] = [];
  page.on('requestfailed', (request) => aborted.push(new URL(request.url()).pathname));
  await question().getByRole('button', { name: 'Stop and leave' }).click();
  await heading('Products').waitFor();
  await expect.poll(() => aborted).toContain('/api/v1/licenses/import');
  release();
  await page.unroute('**/import?**');
});

const type = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const confirmWith = (text: string) => type(`Type ${text} to confirm`, text);
const chooseAction = async (name: string) => {
  await press('More actions');
  await page.getByRole('menuitem', { name }).click();
};

const LEFT: [name: string, path: () => string | Promise<string>, call: string, steps: () => Promise<void>][] =
  [
    [
      'creates a license',
      () => '/licenses?create=true',
      '**/licenses/create*',
      () => page.getByRole('dialog').getByRole('button', { name: 'Create license' }).click(),
    ],
    [
      'creates a product',
      () => '/products?create=true',
      '**/products/left',
      async () => {
        await type('Code', 'left');
        await page.getByRole('dialog').getByRole('button', { name: 'Create product' }).click();
      },
    ],
    [
      'deletes a product',
      async () => {
        await ada.putProduct('gone');
        return '/products/gone';
      },
      '**/products/gone',
      async () => {
        await press('Delete');
        await press('Delete product');
      },
    ],
    [
      'deletes a license',
      async () => {
        const { id } = await ada.addLicense({ license_key: 'GONE-LICENSE' });
        return `/licenses/${id}`;
      },
      '**/licenses/lic_*',
      async () => {
        await chooseAction('Delete…');
        await confirmWith('GONE-LICENSE');
        await press('Delete license');
      },
    ],
    [
      'erases a customer',
      () => '/customers/grace@example.com',
      '**/erase-customer',
      async () => {
        await press('Erase customer');
        await confirmWith('grace@example.com');
        await page.getByRole('alertdialog').getByRole('button', { name: 'Erase customer' }).click();
      },
    ],
    ['sends a test event', () => `/webhooks/${webhookId}`, '**/test', () => press('Send test event')],
    [
      'deletes a webhook',
      () => `/webhooks/${webhookId}`,
      '**/api/webhooks/*',
      async () => {
        await chooseAction('Delete…');
        await confirmWith('127.0.0.1');
        await press('Delete webhook');
      },
    ],
    [
      'deletes a store',
      async () => {
        const store = await ada.post('/api/stores', { provider: 'gumroad', name: 'Gone', api_key: 'token' });
        return `/stores/${(store as { id: string }).id}`;
      },
      '**/api/stores/*',
      async () => {
        await press('Delete');
        await confirmWith('Gone');
        await press('Delete store');
      },
    ],
  ];

test.for(LEFT)('who %s and goes elsewhere meanwhile stays there', async ([, path, call, steps]) => {
  await openPage(page, await path());
  const { held, release } = await holdBack(call, (route) => route.request().method() !== 'GET');
  await steps();
  await expect.poll(() => held.length).toBe(1);
  await goTo('/keys');
  await heading('API keys').waitFor();
  const answered = page.waitForResponse((response) => response.request() === held[0]?.request());
  release();
  expect((await answered).status()).toBeLessThan(300);
  await page.evaluate('new Promise((done) => setTimeout(done, 500))');
  expect(pathname()).toBe('/keys');
  await page.unroute(call);
});

test('a URL that isn’t shown again is closed by its own button only', async () => {
  await openPage(page, `/stores/${storeId}`);
  await press('Edit');
  await page.getByLabel('Create another webhook URL').check();
  await press('Save changes');
  const dialog = page.getByRole('dialog', { name: 'New webhook URL' });
  await dialog.locator('[data-secret]').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('the page logs no errors to the console except for failed requests', () => {
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
