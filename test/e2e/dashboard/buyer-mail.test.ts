import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';
import { verifyAddress, waitForMail } from '../support/mails.ts';

// The email to the buyers of one product. Each test continues where the previous test ended.

const SUBJECT = 'Your license key for Mill';

let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('mill', { name: 'Mill' });
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/products/mill');
});

const preview = () => page.getByRole('region', { name: 'What the buyer gets' });
const mail = () => preview().frameLocator('iframe').locator('body');
const sendTest = () => preview().getByRole('button', { name: 'Send me a test' }).click();

test('a seller sees the email to buyers as it will look, while they write it', async () => {
  await mail().getByText('7K3QD-9WZXA-M2RTB-H5NVE-40GPW').waitFor();
  await preview().getByText(SUBJECT, { exact: true }).waitFor();
  await page.getByLabel('From', { exact: true }).fill('Mill & Sons');
  await page.getByLabel('How to activate').fill('Open Settings, and paste the <key>.');
  await mail().getByText('Open Settings, and paste the <key>.').waitFor();
  await mail().getByText('Thank you for buying Mill from Mill & Sons.').waitFor();
  const frame = page.frames().find((one) => one.url() === 'about:srcdoc');
  expect(await frame?.evaluate('getComputedStyle(document.body).padding')).toBe('24px');
  expect(await axeViolations(page)).toEqual([]);
  expect(consoleErrors).toEqual([]);
});

test('a help page without https is refused at its field, and the preview waits for another', async () => {
  await page.getByLabel('Help page').fill('http://mill.example.com');
  await preview().getByText('Complete the fields to see the email.').waitFor();
  await page.getByRole('button', { name: 'Save email' }).click();
  await page.getByText('Must be a URL that begins with https://').waitFor();
  await expect.poll(() => preview().locator('iframe').count()).toBe(0);
  await page.getByLabel('Help page').fill('https://mill.example.com/help');
  await mail().getByText('https://mill.example.com/help').waitFor();
});

test('a test of the email needs a verified address, and is what the preview shows', async () => {
  await sendTest();
  await preview().getByText('Verify Your Email Address First').waitFor();
  await verifyAddress(service, ada);
  await sendTest();
  await waitForToast(page, `Email sent to ${ada.email}`);
  const text = await waitForMail(service.origin, ada.email, SUBJECT);
  expect(text).toContain('Open Settings, and paste the <key>.');
  expect(text).toContain('https://mill.example.com/help');
});

test('what was written is lost by no reload, and saved for all to come', async () => {
  await page.reload();
  await page.getByText('What you had typed is back.').waitFor();
  await mail().getByText('Open Settings, and paste the <key>.').waitFor();
  await page.getByRole('button', { name: 'Save email' }).click();
  await waitForToast(page, 'Email saved');
  await openPage(page, '/products/mill');
  await expect.poll(() => page.getByLabel('From', { exact: true }).inputValue()).toBe('Mill & Sons');
});
