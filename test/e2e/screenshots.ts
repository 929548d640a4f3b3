// `npm run screenshots`: takes screenshots of every page, in both themes and at two widths.
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { launchBrowser, openPage, openVisit, type Theme } from './support/browser.ts';
import { checkOut } from './support/checkout.ts';
import { storageStateOf } from './support/customer.ts';
import { createDemoAccount, pagesOf } from './support/demo-account.ts';
import { showRegions } from './support/demo-regions.ts';
import { cleanUp, type Service, startService } from './support/service.ts';

const FOLDER = join(import.meta.dirname, '../../screenshots');
const DOCS_SCREENSHOTS = ['home-light-1440.png', 'license-dark-1440.png'];
const SIZES = [
  { width: 1_440, height: 900 },
  { width: 390, height: 844 },
] as const;
const THEMES: Theme[] = ['light', 'dark'];
/** Time for animations to end. */
const ANIMATION_MS = 700;

const SIGNED_OUT = { login: '/login', register: '/register', 'forgot-password': '/forgot-password' };

/** Fills in a month of API calls, because the demo account is only minutes old. */
const withMonthOfCalls = (days: { verify: number; create: number }[]) =>
  days.map((day, index) => {
    const weekend = index % 7 > 4 ? 0.45 : 1;
    return index === days.length - 1
      ? day
      : {
          ...day,
          verify: Math.round((960 + 31 * index + ((index * 137) % 290)) * weekend),
          create: (index * 13) % 64,
        };
  });

const takeScreenshots = async (service: Service, browser: Browser) => {
  const { origin } = service;
  const demo = await createDemoAccount(service);
  for (const theme of THEMES) {
    for (const size of SIZES) {
      const options = { theme, ...size };
      const guest = await openVisit(browser, origin, options);
      const member = await openVisit(browser, origin, {
        ...options,
        storageState: storageStateOf(origin, demo.customer),
      });
      await showRegions(member.context);
      await member.context.route('**/api/dashboard', async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        const usage = { ...body.usage, api_usage: 38_214 };
        const webhooks = { ...body.webhooks, delivered_24h: 1_284, failed_24h: 0 };
        await route.fulfill({
          response,
          json: { ...body, usage, webhooks, usage_by_day: withMonthOfCalls(body.usage_by_day) },
        });
      });
      for (const [{ page }, pages] of [
        [guest, SIGNED_OUT],
        [member, pagesOf(demo)],
      ] as const) {
        for (const [name, path] of Object.entries(pages)) {
          await openPage(page, path);
          await delay(ANIMATION_MS);
          await page.screenshot({ path: join(FOLDER, `${name}-${theme}-${size.width}.png`) });
        }
      }
      await guest.context.close();
      await member.context.close();
    }
  }
  demo.closeReceiver();
};

await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const browser = await launchBrowser();
try {
  await takeScreenshots(await startService(await checkOut()), browser);
} finally {
  await browser.close();
  await cleanUp();
}
for (const file of DOCS_SCREENSHOTS)
  await cp(join(FOLDER, file), join(import.meta.dirname, 'pictures', file));
console.log(`Screenshots written to ${FOLDER}`);
