import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// Events that arrive while a list is on its way.

let ada: Customer;
let page: Page;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  for (let i = 0; i < 51; i++) await ada.addLicense({ license_key: `MANY-${i}-LICENSES` });
  ({ page } = await visitAs(ada));
});

const rows = () => page.getByRole('table', { name: 'Licenses' }).locator('tbody tr');

/** Holds back the calls that match, each until it is let go. */
const holdBack = async (url: string) => {
  const held: Route[] = [];
  await page.route(url, (route) => void held.push(route));
  return held;
};

/** Does something that the page is told of, and gives the page time to act. */
const tell = async (steps: () => Promise<unknown>) => {
  const told = page.waitForResponse((response) => response.url().includes('/api/events?'));
  await steps();
  await (await told).finished();
  await page.evaluate('new Promise((done) => setTimeout(done, 500))');
};

const startListening = async (path: string) => {
  const listening = page.waitForRequest((request) => /\/api\/events\?.*cursor=/.test(request.url()));
  await openPage(page, path);
  await listening;
};

test('a list that loads for the first time is shown, whatever happens meanwhile', async () => {
  await startListening('/purchases');
  const held = await holdBack('**/api/v1/licenses?*');
  await page.getByRole('link', { name: 'Licenses' }).first().click();
  await expect.poll(() => held.length).toBe(1);
  await tell(() => ada.addLicense({ license_key: 'ARRIVED-MEANWHILE' }));
  await held[0]?.continue();
  await expect.poll(() => rows().count()).toBe(50);
  await expect.poll(() => held.length).toBe(2);
  await held[1]?.continue();
  await page.getByText('ARRIVED-MEANWHILE').first().waitFor();
  await page.unroute('**/api/v1/licenses?*');
});

test('who signs out while the next page of a list waits gets the page to sign in', async () => {
  await startListening('/licenses');
  const held = await holdBack('**/api/v1/licenses?*cursor=*');
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => held.length).toBe(1);
  await tell(() => ada.addLicense({ license_key: 'ARRIVED-LATER' }));
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});
