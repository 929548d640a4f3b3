import { tmpdir } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import type { Visit } from '../support/browser.ts';
import { type Customer, openAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';
import { runToEnd } from '../support/service.ts';

// The first quarter of an hour with the service, on the dashboard's first page.

let ada: Customer;
let visit: Visit;

beforeAll(async () => {
  ada = await openAccount(service, 'ada');
  visit = await visitAs(ada);
  await visit.page.goto('/');
});

const steps = () => visit.page.locator('ol > li');
const doneSteps = () => steps().filter({ hasText: '(done)' }).count();
const snippet = () => visit.page.getByRole('region', { name: /snippet/ });

test('a new account finds its first steps, of which one is done', async () => {
  await expect.poll(() => steps().count()).toBe(6);
  expect(await doneSteps()).toBe(1);
  await visit.page.getByText('1 of 6 done').waitFor();
});

test('a key and a license are a click each, and the steps tick themselves off', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'Create a sample license' }).click();
  await expect.poll(doneSteps).toBe(3);
});

test('after a reload the snippet names no key until it is asked to fill it in', async () => {
  const { page } = visit;
  await page.reload();
  await expect.poll(() => snippet().textContent()).toContain('YOUR_API_KEY');
  await page.getByRole('button', { name: 'Fill in my key' }).click();
  await expect.poll(() => snippet().textContent()).toMatch(/lk_live_[0-9A-Za-z]{40,}/);
});

test('the snippet, copied and run in a terminal, verifies a license, and the page notices by itself', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Copy curl snippet' }).click();
  const copied = String(await page.evaluate('navigator.clipboard.readText()'));
  const { stdout, code } = await runToEnd(tmpdir(), 'bash', '-c', copied);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ valid: true, status: 'active', api_usage: 1 });
  await expect.poll(doneSteps, { timeout: 10_000 }).toBe(4);
});

test('the JavaScript snippet runs as it stands, too', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Verify a license' }).click();
  await page.getByRole('button', { name: 'JavaScript' }).click();
  const script = (await snippet().textContent()) ?? '';
  const { stdout } = await runToEnd(tmpdir(), 'node', '--input-type=module', '--eval', script);
  expect(stdout).toBe('true active\n');
});

test('it can be run right on the page, which shows what came back', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Run it here' }).click();
  await expect
    .poll(() => page.getByRole('region', { name: 'answer' }).textContent())
    .toMatch(/^HTTP 200\n\{\s+"valid": true/);
});

test('what was called is counted against the limit and drawn by day; a table has the same figures', async () => {
  const { page } = visit;
  await expect
    .poll(() => page.getByRole('meter', { name: 'API calls used' }).getAttribute('aria-valuetext'))
    .toBe('3 of 1,000');
  const chart = page.getByRole('img', { name: /API calls of the last 30 days: 3 verify, 0 create/ });
  await chart.waitFor();
  const { width = 0 } = (await chart.boundingBox()) ?? {};
  await chart.hover({ position: { x: width - 16, y: 100 } });
  await expect.poll(() => chart.textContent()).toMatch(/Verify 3Create 0/);
  await page.getByRole('button', { name: 'Table' }).click();
  const today = page.getByRole('region', { name: 'API calls by day' }).getByRole('row').nth(1);
  expect(await today.textContent()).toMatch(/30$/);
  expect(await page.getByRole('region', { name: 'API calls by day' }).getByRole('row').count()).toBe(31);
});

test('license counts lead to the licenses of that state', async () => {
  const { page } = visit;
  await page.getByRole('link', { name: 'Active 1' }).click();
  await page.getByRole('heading', { name: 'Licenses' }).waitFor();
  expect(page.url()).toBe(`${service.origin}/licenses?status=active`);
});

test('the first steps can be put away and stay so', async () => {
  const { page } = visit;
  await page.goto('/');
  await page.getByRole('button', { name: 'Hide' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Show first steps (4 of 6 done)' }).click();
  await expect.poll(() => steps().count()).toBe(6);
});

test('nothing of this made the console complain', () => {
  expect(visit.faults).toEqual([]);
});
