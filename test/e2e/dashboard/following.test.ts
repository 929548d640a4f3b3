import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// Pages that show what happens elsewhere. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let apiKey: string;
let license: Awaited<ReturnType<Customer['addLicense']>>;
const listens: string[] = [];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('orrery', { terms: { max_activations: 2 } });
  license = await ada.addLicense({ product: 'orrery' });
  apiKey = (await ada.addKey({ scope: 'verify' })).api_key;
  ({ page } = await visitAs(ada));
  await page.clock.install();
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname === '/api/events') listens.push(search);
  });
});

/** Waits until the page waits for events, so that it misses none. */
const waitUntilListening = async () => {
  await expect.poll(() => listens.some((search) => search.includes('cursor='))).toBe(true);
};

/** Stops the page's clock, so that nothing wakes the page by chance. */
const stopClock = async () => page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 60_000);

/** Answers the call that waits for an event. */
const endWaiting = () => ada.addLicense();

test('the page of a license shows a machine, and who suspended it, without a reload', async () => {
  await openPage(page, `/licenses/${license.id}`);
  await waitUntilListening();
  await ada.activate(apiKey, license.license_key, { fingerprint: 'machine-a', name: 'Ada’s laptop' });
  await page.getByRole('table', { name: 'Machines' }).getByText('Ada’s laptop').waitFor();
  await page.getByText('1 of 2 seats taken').waitFor();
  await ada.post(`/api/v1/licenses/${license.id}/suspend`, { reason: 'chargeback' });
  await expect.poll(() => page.getByRole('main').textContent()).toMatch(/Suspended by you · .*: chargeback/);
});

test('the list shows a license that was created elsewhere', async () => {
  await page.getByRole('link', { name: 'Licenses' }).first().click();
  await page.getByRole('table', { name: 'Licenses' }).waitFor();
  await ada.addLicense({ customer_name: 'Grace Hopper' });
  await expect.poll(() => page.getByRole('main').textContent()).toContain('Grace Hopper');
});

test('a tab that was hidden for a minute asks nothing, until somebody looks again', async () => {
  const hide = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
  const waiting = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/events'));
  await hide(true);
  await page.clock.runFor(61_000);
  await waiting;
  const before = listens.length;
  await page.clock.runFor(300_000);
  expect(listens.length).toBe(before);
  await ada.addLicense({ customer_name: 'Radia Perlman' });
  await hide(false);
  await expect.poll(() => page.getByRole('main').textContent()).toContain('Radia Perlman');
  await expect.poll(() => listens.length).toBeGreaterThan(before);
});

test('an event leaves the next page of a list alone that somebody has asked for', async () => {
  for (let i = 0; i < 55; i++) await ada.addLicense({ license_key: `MANY-${i}-LICENSES` });
  await openPage(page, '/licenses');
  await waitUntilListening();
  const rows = page.getByRole('table', { name: 'Licenses' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(50);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  await page.route('**/api/v1/licenses?*cursor=*', async (route) => {
    held++;
    await released;
    return route.continue();
  });
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => held).toBe(1);
  const told = page.waitForResponse((response) => response.url().includes('/api/events?'));
  await ada.addLicense({ license_key: 'ARRIVED-MEANWHILE' });
  await (await told).finished();
  release();
  await expect.poll(() => rows.count()).toBe(59);
  await page.getByText('ARRIVED-MEANWHILE').first().waitFor();
  await page.unroute('**/api/v1/licenses?*cursor=*');
});

test('after an outage, however long, it follows again within seconds', async () => {
  await stopClock();
  const failed: string[] = [];
  await page.route('**/api/events?**', (route) => {
    failed.push(route.request().url());
    return route.abort();
  });
  await endWaiting();
  while (failed.length < 7) await page.clock.runFor(2_000);
  await ada.addLicense({ customer_name: 'Edith Clarke' });
  while (failed.length < 8) await page.clock.runFor(2_000);
  await page.unroute('**/api/events?**');
  const before = listens.length;
  // The page may not have seen its last failure, and begins to wait only then.
  for (let ranMs = 0; listens.length === before && ranMs < 30_000; ranMs += 2_000) {
    await page.clock.runFor(2_000);
    await delay(500);
  }
  expect(listens.length).toBeGreaterThan(before);
  await page.clock.resume();
  await expect.poll(() => page.getByRole('main').textContent()).toContain('Edith Clarke');
});

test('a browser that is online again follows at once', async () => {
  await stopClock();
  const failed: string[] = [];
  page.on('requestfailed', (request) => {
    if (request.url().includes('/api/events?')) failed.push(request.url());
  });
  await page.route('**/api/events?**', (route) => route.abort());
  await endWaiting();
  while (failed.length === 0) {
    await page.clock.runFor(2_000);
    await delay(100);
  }
  await page.unroute('**/api/events?**');
  const before = listens.length;
  // The page may not have seen its last failure, and hears the event only once it has.
  const goOnline = () => page.evaluate(`dispatchEvent(new Event('online'))`);
  await expect.poll(() => goOnline().then(() => listens.length)).toBeGreaterThan(before);
});
