import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage, waitForToast } from '../support/browser.ts';
import { createAccount, type Customer } from '../support/customer.ts';
import { loseNextAnswer, service, visitAs } from '../support/dashboard.ts';

// One subscription, from a declined card to an immediate cancellation. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];
let apiKey: string;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  apiKey = (await ada.addKey()).api_key;
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/billing');
});

const planCard = (plan: string) => page.getByRole('article', { name: plan });
const submitCheckout = (button: 'Pay' | 'Decline') =>
  page.getByRole('button', { name: button, exact: true }).click();
const waitForNotice = (text: string) => page.getByRole('status').getByText(text).waitFor();
const apiLimit = async () => ((await ada.verify(apiKey, 'none')).body as { api_limit: number }).api_limit;
const cancelSubscription = async (when: RegExp) => {
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  await page.getByRole('radio', { name: when }).check();
  const confirm = page.getByRole('button', { name: /^(Cancel subscription|End now)$/ });
  await confirm.last().click();
};

test('the page shows three plans and marks the current one', async () => {
  await expect.poll(() => page.getByRole('article').count()).toBe(3);
  await expect.poll(() => planCard('Free').getAttribute('aria-current')).not.toBeNull();
  await expect
    .poll(() => planCard('Scale').textContent())
    .toMatch(/\$199.*5,000,000 API calls per month.*5,000,000 licenses.*1,000 calls per second/);
});

test('a declined payment shows a notice and leaves the plan unchanged', async () => {
  await page.getByRole('button', { name: 'Upgrade to Pro' }).click();
  await submitCheckout('Decline');
  await waitForNotice('Checkout not completed');
  await expect.poll(() => planCard('Free').getAttribute('aria-current')).not.toBeNull();
  expect(await apiLimit()).toBe(1_000);
});

test('a payment changes the plan and its limits', async () => {
  await page.getByRole('button', { name: 'Upgrade to Pro' }).click();
  await submitCheckout('Pay');
  await waitForNotice('You’re on Pro');
  expect(await apiLimit()).toBe(100_000);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect.poll(() => page.url()).toBe(`${service.origin}/billing`);
});

test('payments are listed newest first', async () => {
  const rows = page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  await expect.poll(() => rows.first().textContent()).toMatch(/Pro.*\$29.*paid/i);
  await expect.poll(() => rows.last().textContent()).toMatch(/declined/i);
});

test('switching to a higher plan requires another payment', async () => {
  await page.getByRole('button', { name: 'Switch to Scale' }).click();
  await submitCheckout('Pay');
  await waitForNotice('You’re on Scale');
  expect(await apiLimit()).toBe(5_000_000);
});

test('a subscription canceled at the end of its period keeps its limits until then', async () => {
  await cancelSubscription(/At the end of the period/);
  await expect.poll(() => page.getByRole('main').textContent()).toMatch(/Canceled on/);
  expect(await apiLimit()).toBe(5_000_000);
  await page.getByRole('main').getByText('Until then you can resume Scale').waitFor();
});

test('a canceled subscription that is resumed renews again', async () => {
  await page.getByRole('button', { name: 'Resume Scale' }).click();
  await expect.poll(() => page.getByRole('main').textContent()).toMatch(/Renews on/);
  expect(await apiLimit()).toBe(5_000_000);
});

test('retrying a cancellation whose response was lost keeps the limits until the end of the period', async () => {
  await loseNextAnswer(page, '/api/cancel-subscription');
  await cancelSubscription(/At the end of the period/);
  const dialog = page.getByRole('dialog', { name: 'Cancel Scale?' });
  await dialog.getByRole('alert').waitFor();
  await expect.poll(() => page.locator('main').textContent()).toMatch(/Canceled on/);
  await dialog.getByRole('button', { name: /^(Cancel subscription|End now)$/ }).click();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  expect(await apiLimit()).toBe(5_000_000);
  await page.getByRole('button', { name: 'Resume Scale' }).click();
  await expect.poll(() => page.getByRole('main').textContent()).toMatch(/Renews on/);
});

test('whoever comes back from the provider’s page can go there again, and an error is shown as one', async () => {
  await page.route('**/api/billing', async (route) => {
    const response = await route.fetch();
    const { payments, ...body } = await response.json();
    const ofStripe = payments.map((payment: object) => ({ ...payment, provider: 'stripe' }));
    await route.fulfill({ response, json: { ...body, payments: ofStripe } });
  });
  const urls = ['#provider'];
  await page.route('**/api/billing-portal', (route) => {
    const url = urls.pop();
    return url === undefined ? route.abort() : route.fulfill({ json: { url } });
  });
  await page.reload();
  const button = page.getByRole('button', { name: 'Cards and invoices' });
  await button.click();
  await page.waitForURL('**/billing#provider');
  await expect.poll(() => button.getAttribute('aria-busy')).toBe('true');
  // As the Back button does with a page that the browser has kept.
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await expect.poll(() => button.getAttribute('aria-busy')).toBeNull();
  await button.click();
  await waitForToast(page, 'The service can’t be reached', 'error');
  await page.unrouteAll();
  await openPage(page, '/billing');
});

test('a subscription that is resumed and then canceled immediately returns to Free', async () => {
  await cancelSubscription(/^Now/);
  await expect.poll(() => planCard('Free').getAttribute('aria-current')).not.toBeNull();
  expect(await apiLimit()).toBe(1_000);
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
