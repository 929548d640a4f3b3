import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPage, type Visit } from '../support/browser.ts';
import { createAccount } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';
import { createDemoAccount, type DemoAccount, PAGES, pagesOf } from '../support/demo-account.ts';

let demo: DemoAccount;

beforeAll(async () => {
  demo = await createDemoAccount(service);
});
afterAll(() => demo.closeReceiver());

const IS_TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

describe.for([
  ['light', 375],
  ['dark', 375],
  ['light', 1_024],
  ['light', 1_920],
] as const)('in the %s theme at %i px', ([theme, width]) => {
  let member: Visit;

  beforeAll(async () => {
    member = await visitAs(demo.customer, { theme, width });
  });
  afterAll(() => member.context.close());

  test.for(PAGES)('%s does not scroll sideways', async (name) => {
    await openPage(member.page, pagesOf(demo)[name]);
    expect(await member.page.evaluate(IS_TOO_WIDE)).toBe(false);
  });

  test.for(['/login', '/register'])('%s does not scroll sideways', async (path) => {
    const guest = await visit({ theme, width });
    await openPage(guest.page, path);
    expect(await guest.page.evaluate(IS_TOO_WIDE)).toBe(false);
    await guest.context.close();
  });
});

/** The threshold for a good Cumulative Layout Shift. */
const GOOD_LAYOUT_SHIFT = 0.1;

const OBSERVE_LAYOUT_SHIFTS = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

test.for([
  ['demo', 1_440],
  ['demo', 390],
  ['new', 1_440],
  ['new', 390],
] as const)('the pages of a %s account load without layout shifts at %i px', async ([account, width]) => {
  const customer = account === 'demo' ? demo.customer : await createAccount(service, account);
  const { context, page } = await visitAs(customer, { width });
  await context.addInitScript(OBSERVE_LAYOUT_SHIFTS);
  let responses = 0;
  // Responses arrive one by one and out of order.
  await context.route('**/api/**', async (route) => {
    await delay(100 + ((responses++ * 170) % 400));
    await route.continue();
  });
  for (const path of Object.values(pagesOf(demo))) {
    await openPage(page, path);
    await delay(300);
    expect(await page.evaluate('window.layoutShift'), path).toBeLessThan(GOOD_LAYOUT_SHIFT);
  }
  await context.close();
});
