import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedInBody } from '../../../src/accounts/schemas.ts';
import { axe, open, type Visit } from '../support/browser.ts';
import { openAccount, PASSWORD } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';
import { pagesOf, type Stage, setStage } from '../support/stage.ts';

// What holds on every page: for those who don't see it, on a telephone, in both themes, for every account.

const PAGES = [
  'home',
  'licenses',
  'license-new',
  'license',
  'keys',
  'key-new',
  'webhooks',
  'webhook-new',
  'webhook',
  'webhook-settings',
  'billing',
  'nothing',
] as const satisfies (keyof ReturnType<typeof pagesOf>)[];

/** What browsers' makers call good. */
const GOOD_SHIFT = 0.1;

let stage: Stage;

beforeAll(async () => {
  stage = await setStage(service);
});
afterAll(() => stage.closeReceiver());

const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  let wide: Visit;
  let narrow: Visit;

  beforeAll(async () => {
    wide = await visitAs(stage.customer, { theme, width: 1_440 });
    narrow = await visitAs(stage.customer, { theme, width: 375, height: 812 });
  });
  afterAll(async () => {
    await wide.context.close();
    await narrow.context.close();
  });

  test.each(PAGES)('%s has nothing that axe objects to, wide and narrow', async (name) => {
    for (const visited of [wide, narrow]) {
      await open(visited.page, pagesOf(stage)[name]);
      expect(await axe(visited.page)).toEqual([]);
    }
  });

  test.each(PAGES)('%s needs no scrolling sideways at 375 px', async (name) => {
    await open(narrow.page, pagesOf(stage)[name]);
    expect(await narrow.page.evaluate(isTooWide)).toBe(false);
  });

  test.each(['/login', '/register'])('%s is as good for guests', async (path) => {
    const guest = await visit({ theme, width: 375, height: 812 });
    await open(guest.page, path);
    expect(await axe(guest.page)).toEqual([]);
    expect(await guest.page.evaluate(isTooWide)).toBe(false);
    expect(guest.faults).toEqual([]);
    await guest.context.close();
  });

  test('no page made the console complain or broke the policy', () => {
    expect([...wide.faults, ...narrow.faults]).toEqual([]);
  });
});

test.each([1_024, 1_920])('no page needs scrolling sideways at %i px', async (width) => {
  const visited = await visitAs(stage.customer, { width });
  for (const path of Object.values(pagesOf(stage))) {
    await open(visited.page, path);
    expect(await visited.page.evaluate(isTooWide), path).toBe(false);
  }
  await visited.context.close();
});

/** Collects by how much the page jumps under its reader, as browsers measure it. */
const WATCH_SHIFTS = `
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

test.each([
  ['busy', 1_440],
  ['busy', 390],
  ['new', 1_440],
  ['new', 390],
] as const)('nothing jumps while the pages of a %s account load at %i px', async (who, width) => {
  const customer = who === 'busy' ? stage.customer : await openAccount(service, who);
  const visited = await visitAs(customer, { width });
  await visited.context.addInitScript(WATCH_SHIFTS);
  let answers = 0;
  // They arrive one after the other, in no order.
  await visited.context.route('**/api/**', async (route) => {
    await delay(100 + ((answers++ * 170) % 400));
    await route.continue();
  });
  for (const path of Object.values(pagesOf(stage))) {
    await open(visited.page, path);
    await delay(300);
    expect(await visited.page.evaluate('window.shifted'), path).toBeLessThan(GOOD_SHIFT);
  }
  await visited.context.close();
});

test('a second account sees nothing of the first, on its lists or by address', async () => {
  const bob = await visitAs(await openAccount(service, 'bob'));
  const secrets = [
    stage.customer.email,
    stage.healthy.url,
    ...stage.licenses.flatMap(({ license_key, customer_email }) => [license_key, customer_email]),
  ];
  for (const path of Object.values(pagesOf(stage))) {
    await open(bob.page, path);
    const content = await bob.page.content();
    expect(
      secrets.filter((secret) => content.includes(secret)),
      path,
    ).toEqual([]);
  }
  await bob.context.close();
});

test('an unknown address shows a 404 page inside the shell, with a link home', async () => {
  const { page, context, faults } = await visitAs(stage.customer);
  await open(page, '/no/such/page?tab=x');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found');
  expect(await page.title()).toBe('Page not found · Latchkey');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Licenses' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Go to home' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/');
  expect(faults).toEqual([]);
  await context.close();
});

test('an unknown address asks signed-out visitors to sign in', async () => {
  const { page, context, faults } = await visit();
  await open(page, '/no/such/page');
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('signing out in one tab leaves nothing on the other', async () => {
  const { email } = stage.customer;
  const session = signedInBody.parse(
    (await service.post('/api/login', { email, password: PASSWORD })).body,
  ).session;
  const first = await visitAs({ ...stage.customer, token: session.token });
  await open(first.page, '/licenses');
  const second = await first.context.newPage();
  await second.goto('/keys');
  await second.getByRole('button', { name: 'Account menu' }).click();
  await second.getByRole('menuitem', { name: 'Sign out' }).click();
  await first.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await first.page.content()).not.toContain(stage.licenses.at(-1)?.license_key);
  await first.context.close();
});

describe('how the files are served', () => {
  test('each page carries a policy that lets nothing in but the dashboard’s own files', async () => {
    for (const path of ['/', '/licenses', '/no/such/page']) {
      const { status, headers } = await service.get(path, { accept: 'text/html' });
      expect(status).toBe(200);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toMatch(/must-revalidate|no-cache/);
    }
  });

  test('hashed files are kept for a year, the page that names them is not', async () => {
    const { text } = await service.get('/', { accept: 'text/html' });
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(text) ?? [];
    const { status, headers } = await service.get(script);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test('an unknown path is a page for browsers and our 404 for everybody else', async () => {
    const { status, body } = await service.get('/no/such/page');
    expect([status, body]).toMatchObject([404, { error: { code: 'not_found' } }]);
    expect((await service.get('/api/nope', { accept: 'text/html' })).status).toBe(404);
  });
});
