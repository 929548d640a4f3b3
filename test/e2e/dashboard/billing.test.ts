import { beforeAll, expect, test } from 'vitest';
import { open, type Visit } from '../support/browser.ts';
import { type Customer, openAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// What an account pays, from a card that is declined to a subscription that is ended at once.

let ada: Customer;
let visit: Visit;
let apiKey: string;

beforeAll(async () => {
  ada = await openAccount(service, 'ada');
  apiKey = (await ada.addKey()).api_key;
  visit = await visitAs(ada);
  await open(visit.page, '/billing');
});

const card = (plan: string) => visit.page.getByRole('article', { name: plan });
const atCheckout = (button: 'Pay' | 'Decline') =>
  visit.page.getByRole('button', { name: button, exact: true }).click();
const notice = (words: string) => visit.page.getByRole('status').getByText(words).waitFor();
const apiLimit = async () => ((await ada.verify(apiKey, 'none')).body as { api_limit: number }).api_limit;
const cancel = async (when: RegExp) => {
  await visit.page.getByRole('button', { name: 'Cancel subscription' }).click();
  await visit.page.getByRole('radio', { name: when }).check();
  const action = visit.page.getByRole('button', { name: /^(Cancel subscription|End it now)$/ });
  await action.last().click();
};

test('the plans are beside each other, the account’s own marked', async () => {
  expect(await visit.page.getByRole('article').count()).toBe(3);
  expect(await card('Free').getAttribute('aria-current')).not.toBeNull();
  expect(await card('Scale').textContent()).toMatch(/\$199.*5,000,000 licensing calls.*1,000 calls a second/);
});

test('a payment that is declined changes nothing, and the page says so', async () => {
  await visit.page.getByRole('button', { name: 'Upgrade to Pro' }).click();
  await atCheckout('Decline');
  await notice('The checkout was not completed');
  expect(await card('Free').getAttribute('aria-current')).not.toBeNull();
  expect(await apiLimit()).toBe(1_000);
});

test('a payment that is made gives the plan, and the next verify has its limit', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Upgrade to Pro' }).click();
  await atCheckout('Pay');
  await notice('You are on Pro');
  expect(await apiLimit()).toBe(100_000);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect.poll(() => page.url()).toBe(`${service.origin}/billing`);
});

test('the payments are listed, the latest first', async () => {
  const rows = visit.page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  expect(await rows.first().textContent()).toMatch(/Pro.*\$29.*paid/i);
  expect(await rows.last().textContent()).toMatch(/declined/i);
});

test('the next plan takes another payment', async () => {
  await visit.page.getByRole('button', { name: 'Switch to Scale' }).click();
  await atCheckout('Pay');
  await notice('You are on Scale');
  expect(await apiLimit()).toBe(5_000_000);
});

test('cancelled at the period’s end, the limits hold until then, and the page says until when', async () => {
  await cancel(/At the end of the period/);
  await expect.poll(() => visit.page.getByRole('main').textContent()).toMatch(/cancelled/i);
  expect(await apiLimit()).toBe(5_000_000);
  await visit.page.getByRole('button', { name: 'Subscribe to Scale again' }).waitFor();
});

test('taken up again and ended at once, the account is on Free', async () => {
  await visit.page.getByRole('button', { name: 'Subscribe to Scale again' }).click();
  await atCheckout('Pay');
  await notice('You are on Scale');
  await cancel(/^Now/);
  await expect.poll(() => card('Free').getAttribute('aria-current')).not.toBeNull();
  expect(await apiLimit()).toBe(1_000);
  expect(visit.faults).toEqual([]);
});
