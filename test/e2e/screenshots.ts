// `npm run screenshots`: pictures of every page, in both themes, wide and narrow, in screenshots/.
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { launchBrowser, open, openVisit, type Theme } from './support/browser.ts';
import { storageStateOf } from './support/customer.ts';
import { checkOut, type Service, start, tidyUp } from './support/service.ts';
import { pagesOf, setStage } from './support/stage.ts';

const FOLDER = join(import.meta.dirname, '../../screenshots');
const IN_DOCS = ['home-light-1440.png', 'license-dark-1440.png'];
const SIZES = [
  { width: 1_440, height: 900 },
  { width: 390, height: 844 },
] as const;
const THEMES: Theme[] = ['light', 'dark'];
/** Until what fades in has done so. */
const CALM_MS = 700;

const SIGNED_OUT = { login: '/login', register: '/register' };

/** A month of calls; the account was opened a minute ago. */
const withMonth = (days: { verify: number; create: number }[]) =>
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

const shoot = async (service: Service, browser: Browser) => {
  const { origin } = service;
  const stage = await setStage(service);
  for (const theme of THEMES) {
    for (const size of SIZES) {
      const options = { theme, ...size };
      const guest = await openVisit(browser, origin, options);
      const member = await openVisit(browser, origin, {
        ...options,
        storageState: storageStateOf(origin, stage.customer),
      });
      await member.context.route('**/api/dashboard', async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        const usage = { ...body.usage, api_usage: 38_214 };
        await route.fulfill({
          response,
          json: { ...body, usage, usage_by_day: withMonth(body.usage_by_day) },
        });
      });
      for (const [{ page }, pages] of [
        [guest, SIGNED_OUT],
        [member, pagesOf(stage)],
      ] as const) {
        for (const [name, path] of Object.entries(pages)) {
          await open(page, path);
          await delay(CALM_MS);
          await page.screenshot({ path: join(FOLDER, `${name}-${theme}-${size.width}.png`) });
        }
      }
      await guest.context.close();
      await member.context.close();
    }
  }
  stage.closeReceiver();
};

await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const browser = await launchBrowser();
try {
  await shoot(await start(await checkOut()), browser);
} finally {
  await browser.close();
  await tidyUp();
}
for (const file of IN_DOCS) await cp(join(FOLDER, file), join(import.meta.dirname, 'pictures', file));
console.log(`Pictures are in ${FOLDER}`);
