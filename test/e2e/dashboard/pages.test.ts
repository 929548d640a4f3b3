import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeViolations, openPage, type Theme, type Visit } from '../support/browser.ts';
import { createAccount, type Customer } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';
import { createDemoAccount, type DemoAccount, PAGES, pagesOf } from '../support/demo-account.ts';
import { showRegions } from '../support/demo-regions.ts';

// Loading a page takes most of the time, so each page is loaded twice and then shown in both themes and at other widths.

let demo: DemoAccount;

beforeAll(async () => {
  demo = await createDemoAccount(service);
});
afterAll(() => demo.closeReceiver());

const WIDE = 1_440;
const NARROW = 375;
const OTHER_WIDTHS = [1_024, 1_920];

/** The threshold for a good Cumulative Layout Shift. */
const GOOD_LAYOUT_SHIFT = 0.1;

const OBSERVE_LAYOUT_SHIFTS = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Delays the page's calls, so that the responses arrive one by one and out of order. */
const DELAY_CALLS = `
  let calls = 0;
  const send = window.fetch;
  window.fetch = async (...request) => {
    await new Promise((resolve) => setTimeout(resolve, 100 + ((calls++ * 170) % 400)));
    return send(...request);
  };`;

/** Observes layout shifts in a visit. A route of Playwright's would make each page load its scripts again. */
const observeLayoutShifts = async ({ context }: Visit) => {
  await context.addInitScript(OBSERVE_LAYOUT_SHIFTS);
  await context.addInitScript(DELAY_CALLS);
};

const expectNoLayoutShift = async ({ page }: Visit, path: string) => {
  await openPage(page, path);
  await delay(300);
  expect(await page.evaluate('window.layoutShift'), 'layout shift').toBeLessThan(GOOD_LAYOUT_SHIFT);
};

/** A page reacts to its new size within two frames. */
const IS_TOO_WIDE = `
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  )`;

const expectNoSidewaysScroll = async (page: Page, width: number, theme: Theme) => {
  await page.setViewportSize({ width, height: 900 });
  expect(await page.evaluate(IS_TOO_WIDE), `scrolls sideways at ${width} px, ${theme}`).toBe(false);
};

/** The scripts above don't run in the frame of an email, which is told here. */
const isAboutOwnScripts = (text: string) => text.startsWith("Blocked script execution in 'about:srcdoc'");

/** Checks the open page in both themes, starting with the theme in which it was loaded. */
const expectGoodPage = async ({ page, consoleErrors }: Visit, loadedWidth: number, loadedTheme: Theme) => {
  for (const theme of loadedTheme === 'light' ? (['light', 'dark'] as const) : (['dark', 'light'] as const)) {
    await page.emulateMedia({ colorScheme: theme });
    await expectNoSidewaysScroll(page, loadedWidth, theme);
    expect(await axeViolations(page), `${theme} at ${loadedWidth} px`).toEqual([]);
  }
  if (loadedWidth === WIDE)
    for (const width of OTHER_WIDTHS) await expectNoSidewaysScroll(page, width, 'light');
  await page.setViewportSize({ width: loadedWidth, height: 900 });
  await page.emulateMedia({ colorScheme: loadedTheme });
  expect(consoleErrors.filter((text) => !isAboutOwnScripts(text))).toEqual([]);
};

interface Visits {
  wide: Visit;
  narrow: Visit;
}

const openVisits = async (customer: Customer): Promise<Visits> => {
  const [wide, narrow] = await Promise.all([
    visitAs(customer, { theme: 'light', width: WIDE }),
    visitAs(customer, { theme: 'dark', width: NARROW }),
  ]);
  await Promise.all([wide, narrow].map(observeLayoutShifts));
  return { wide, narrow };
};
const closeVisits = ({ wide, narrow }: Visits) =>
  Promise.all([wide, narrow].map(({ context }) => context.close()));

describe('for an account with data', () => {
  let visits: Visits;
  beforeAll(async () => {
    visits = await openVisits(demo.customer);
    await Promise.all([visits.wide, visits.narrow].map(({ context }) => showRegions(context)));
  });
  afterAll(() => closeVisits(visits));

  test.for(PAGES)(
    '%s loads without layout shifts, does not scroll sideways, and has no axe violations',
    async (name) => {
      const path = pagesOf(demo)[name];
      const { wide, narrow } = visits;
      await Promise.all([
        expectNoLayoutShift(wide, path).then(() => expectGoodPage(wide, WIDE, 'light')),
        expectNoLayoutShift(narrow, path).then(() => expectGoodPage(narrow, NARROW, 'dark')),
      ]);
    },
  );
});

describe('for a new account', () => {
  let visits: Visits;
  beforeAll(async () => {
    visits = await openVisits(await createAccount(service, 'new'));
  });
  afterAll(() => closeVisits(visits));

  test.for(PAGES)('%s loads without layout shifts', async (name) => {
    const path = pagesOf(demo)[name];
    await Promise.all(Object.values(visits).map((each: Visit) => expectNoLayoutShift(each, path)));
  });
});

test.for([
  '/login',
  '/register',
  '/forgot-password',
  '/reset-password#token=no',
  '/restore-email#token=no',
  '/verify-email#token=no',
])('%s does not scroll sideways and has no axe violations', async (path) => {
  const check = async (theme: Theme, width: number) => {
    const guest = await visit({ theme, width });
    await openPage(guest.page, path);
    await expectGoodPage(guest, width, theme);
    await guest.context.close();
  };
  await Promise.all([check('light', WIDE), check('dark', NARROW)]);
});
