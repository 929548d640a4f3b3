import { tmpdir } from 'node:os';
import type { Page } from 'playwright-core';
import { beforeAll, expect, inject, test } from 'vitest';
import { axeViolations } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs, withClipboard } from '../support/dashboard.ts';
import { showRegions } from '../support/demo-regions.ts';
import { runCommand } from '../support/service.ts';

// The home page of a new account. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  ({ page, consoleErrors } = await visitAs(ada));
  await page.goto('/');
});

const steps = () => page.locator('ol > li');
const countDoneSteps = () => steps().filter({ hasText: '(done)' }).count();
const snippet = () => page.getByRole('region', { name: /snippet/ });
const choose = (language: string) => page.getByRole('button', { name: language, exact: true }).click();

test('a new account sees its first steps, with one of them done', async () => {
  await expect.poll(() => steps().count()).toBe(8);
  await expect.poll(countDoneSteps).toBe(1);
  await page.getByText('1 of 7 done').waitFor();
});

test('a seller is offered to connect a store, and goes on without one', async () => {
  const connect = page.getByRole('button', { name: 'Connect your store (optional)' });
  const product = page.getByRole('button', { name: 'Create a sample product' });
  await expect.poll(() => connect.getAttribute('aria-expanded')).toBe('false');
  await product.waitFor();
  await connect.click();
  await page.getByText('creates its licenses and emails the key').waitFor();
  await expect
    .poll(() => page.getByRole('link', { name: 'Add a store' }).getAttribute('href'))
    .toBe('/stores?create=true');
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'I don’t need a store' }).click();
  await product.waitFor();
  await page.reload();
  await expect.poll(() => steps().count()).toBe(7);
  await expect.poll(() => connect.count()).toBe(0);
});

test('creating a product, an API key and a license takes one click each and completes three steps', async () => {
  await page.getByRole('button', { name: 'Create a sample product' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'Create a sample license' }).click();
  await expect.poll(countDoneSteps).toBe(4);
});

test('after a reload the snippet has a placeholder until the API key is filled in', async () => {
  // While it isn't known whether there is a key, none is created.
  const list = '**/api/api-keys?*';
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  await page.route(list, async (route) => {
    await isReleased;
    await route.continue();
  });
  await page.reload();
  await expect.poll(() => snippet().textContent()).toContain('YOUR_API_KEY');
  const fill = page.getByRole('button', { name: 'Fill in my key' });
  const run = page.getByRole('button', { name: 'Run it here' });
  expect([await fill.isDisabled(), await run.isDisabled()]).toEqual([true, true]);
  release();
  await fill.click();
  await page.unroute(list);
  await expect.poll(() => snippet().textContent()).toMatch(/lk_live_[0-9A-Za-z]{40,}/);
});

test('the copied curl snippet verifies a license, and the page marks the step as done', async () => {
  let copied = '';
  await choose('curl');
  await withClipboard(async () => {
    await page.evaluate(`navigator.clipboard.writeText('')`);
    await page.getByRole('button', { name: 'Copy curl snippet' }).click();
    const readClipboard = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(readClipboard).not.toBe('');
    copied = String(await readClipboard());
  });
  const { stdout, code } = await runCommand(tmpdir(), 'bash', '-c', copied);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ valid: true, status: 'active', api_usage: 1 });
  await expect.poll(countDoneSteps).toBe(5);
});

test('the machine of the snippet appears, with a link to its license', async () => {
  await page.getByText('Machine My first machine took a seat').waitFor();
  const link = page.getByRole('link', { name: 'See it on the license’s page' });
  await expect.poll(() => link.getAttribute('href')).toMatch(/^\/licenses\/lic_/);
  await page.getByRole('button', { name: 'Add a webhook' }).click();
});

test('the JavaScript snippet verifies a license', async () => {
  await page.getByRole('button', { name: 'Verify a license' }).click();
  await choose('JavaScript');
  const script = (await snippet().textContent()) ?? '';
  const { stdout } = await runCommand(tmpdir(), 'node', '--input-type=module', '--eval', script);
  expect(stdout).toBe('true active\n');
});

test('the application snippet activates a license with the account’s pinned keys', async () => {
  await choose('Application');
  const script = (await snippet().textContent()) ?? '';
  expect(script).toContain(`account: '${ada.accountId}'`);
  const { project } = inject('clientPackage');
  // A container has no machine id.
  const given = script.replace('  dir:', `  fingerprint: 'machine-0123456789',\n  dir:`);
  const { stdout, stderr } = await runCommand(project, 'node', '--input-type=module', '--eval', given);
  expect([stdout, stderr]).toEqual(['true valid\n', '']);
});

test('the snippet can be run on the page, which shows the response', async () => {
  await page.getByRole('button', { name: 'Run it here' }).click();
  await expect
    .poll(() => page.getByRole('region', { name: 'response' }).textContent())
    .toMatch(/^HTTP 200\n\{\s+"valid": true/);
});

test('calls count toward the usage limit and appear in the daily chart and its table', async () => {
  await expect
    .poll(() => page.getByRole('meter', { name: 'API calls used' }).getAttribute('aria-valuetext'))
    .toBe('4 of 1,000');
  const chart = page.getByRole('img', { name: /API calls in the last 30 days: 4 verify, 0 create/ });
  await chart.waitFor();
  const { width = 0 } = (await chart.boundingBox()) ?? {};
  await chart.hover({ position: { x: width - 16, y: 100 } });
  await expect.poll(() => chart.textContent()).toMatch(/Verify 4Create 0/);
  await page.getByRole('button', { name: 'Table' }).click();
  const today = page.getByRole('region', { name: 'API calls by day' }).getByRole('row').nth(1);
  await expect.poll(() => today.textContent()).toMatch(/40$/);
  await expect
    .poll(() => page.getByRole('region', { name: 'API calls by day' }).getByRole('row').count())
    .toBe(31);
});

test('a license count links to the licenses with that status', async () => {
  await page.getByRole('link', { name: 'Active 1' }).click();
  await page.getByRole('heading', { name: 'Licenses' }).waitFor();
  expect(page.url()).toBe(`${service.origin}/licenses?status=active`);
});

test('hidden first steps stay hidden after a reload and can be shown again', async () => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Hide' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Show first steps (5 of 7 done)' }).click();
  await expect.poll(() => steps().count()).toBe(7);
});

test('the page says that it is offline, and is as before once it is back', async () => {
  await page.context().setOffline(true);
  const notice = page.getByText('You are offline.');
  await expect.poll(() => notice.count()).toBe(1);
  await page.context().setOffline(false);
  await expect.poll(() => notice.count()).toBe(0);
});

test('an event that a later version has added is shown by its name', async () => {
  const { page: own, consoleErrors: errors } = await visitAs(ada);
  await own.route('**/api/dashboard', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const event = {
      id: 'evt_later',
      event: 'product.archived',
      payload: {},
      created_at: new Date().toISOString(),
    };
    await route.fulfill({ response, json: { ...body, recent_events: [event, ...body.recent_events] } });
  });
  await own.goto('/');
  await own.getByText('product.archived').waitFor();
  expect(errors).toEqual([]);
});

test('the Regions page shows calls by region, or that they are not counted', async () => {
  const body = { enabled: false, home_region: 'enam', moving_to: null, branches: [], days: 30, regions: [] };
  await page.route('**/api/regions', (route) => route.fulfill({ json: body }));
  await page.goto('/settings/regions');
  await page.getByText('Calls aren’t counted by region').waitFor();
  await page.unroute('**/api/regions');
  await showRegions(page.context());
  await page.reload();
  await page.getByText('Opened 3 days ago').waitFor();
  const rows = await page.getByRole('region', { name: 'Calls by region' }).getByRole('row').allTextContents();
  expect(rows.slice(1, 4)).toEqual([
    'Eastern North AmericaAnswered by home182,40624 ms41 ms',
    'Western Europe96,11826 ms104 ms',
    'Answered by the branch90,34225 ms43 ms',
  ]);
  expect(rows.at(-1)).toMatch(/^Oceania.*12––$/);
});

test('the home region moves from a dialog, and the page follows the move', async () => {
  const { page: own } = await visitAs(ada);
  await own.goto('/settings/regions');
  const home = own.getByRole('listitem').filter({ has: own.getByText('Home', { exact: true }) });
  await expect.poll(() => home.textContent()).not.toContain('Oceania');
  await own.getByRole('button', { name: 'Move home' }).click();
  const dialog = own.getByRole('dialog', { name: 'Move your home region' });
  await dialog.getByLabel('New home region').selectOption({ label: 'Oceania' });
  await dialog.getByRole('button', { name: 'Move home' }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  await expect.poll(() => home.textContent()).toBe('OceaniaocHome');
  await expect.poll(() => own.getByRole('button', { name: 'Move home' }).isEnabled()).toBe(true);
});

test('the page logs no errors to the console', () => {
  expect(consoleErrors).toEqual([]);
});

/** Opens the page in a browser that was prepared before the page's first script. */
const visitHome = async (prepare: (page: Page) => Promise<void>) => {
  const opened = await visitAs(ada);
  let loads = 0;
  // A page that is reloaded early never loads, but it was asked for.
  opened.page.on('request', (request) => {
    if (request.isNavigationRequest()) loads++;
  });
  await prepare(opened.page);
  await opened.page.goto('/', { waitUntil: 'commit' });
  return { ...opened, countLoads: () => loads };
};

test('the chart is there in a browser that names its language as the system does', async () => {
  const posix = await visitHome(async (opened) => {
    await opened.addInitScript(
      `Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true })`,
    );
  });
  await posix.page.locator('canvas').waitFor();
  expect([posix.countLoads(), posix.consoleErrors]).toEqual([1, []]);
});

test('a script that fails reloads the page once, and then says so', async () => {
  const broken = await visitHome(async (opened) => {
    await opened.route('**/usage-chart-*.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'throw new Error("broken")' }),
    );
  });
  await broken.page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
  expect(broken.countLoads()).toBe(2);
});
