import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeViolations, openPage, type Visit } from '../support/browser.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';
import { createDemoAccount, type DemoAccount, PAGES, pagesOf } from '../support/demo-account.ts';

let demo: DemoAccount;

beforeAll(async () => {
  demo = await createDemoAccount(service);
});
afterAll(() => demo.closeReceiver());

describe.for(['light', 'dark'] as const)('in the %s theme', (theme) => {
  let wide: Visit;
  let narrow: Visit;

  beforeAll(async () => {
    wide = await visitAs(demo.customer, { theme, width: 1_440 });
    narrow = await visitAs(demo.customer, { theme, width: 375, height: 812 });
  });
  afterAll(async () => {
    await wide.context.close();
    await narrow.context.close();
  });

  test.for(PAGES)('%s has no axe violations at 1440 px and at 375 px', async (name) => {
    for (const { page } of [wide, narrow]) {
      await openPage(page, pagesOf(demo)[name]);
      expect(await axeViolations(page)).toEqual([]);
    }
  });

  test.for(['/login', '/register'])('%s has no axe violations at 375 px', async (path) => {
    const guest = await visit({ theme, width: 375, height: 812 });
    await openPage(guest.page, path);
    expect(await axeViolations(guest.page)).toEqual([]);
    expect(guest.consoleErrors).toEqual([]);
    await guest.context.close();
  });

  test('no page logs an error to the console', () => {
    expect([...wide.consoleErrors, ...narrow.consoleErrors]).toEqual([]);
  });
});
