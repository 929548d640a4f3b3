// A real Chromium that comes with the packages, and what every page of it has to keep to.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium as playwright,
  type Page,
} from 'playwright-core';

export type Theme = 'light' | 'dark';

/** With these flags Chromium runs in one process, which cannot serve several contexts at a time. */
const SINGLE_PROCESS_FLAGS = ['--single-process', '--no-zygote'];

const TIMEOUT_MS = 20_000;

const launchOptions = async () => ({
  executablePath: await chromium.executablePath(),
  args: chromium.args.filter((arg) => !SINGLE_PROCESS_FLAGS.includes(arg)),
  headless: true,
});

export const launchBrowser = async (): Promise<Browser> => playwright.launch(await launchOptions());

export const launchBrowserServer = async (): Promise<BrowserServer> =>
  playwright.launchServer({
    ...(await launchOptions()),
    // Vitest ends its own process on these signals, and Playwright kills the browser when the process exits.
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
  });

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** What the console and the page's policy complained of. */
  faults: string[];
}

export interface VisitOptions {
  theme?: Theme;
  width?: number;
  height?: number;
  storageState?: BrowserContextOptions['storageState'];
}

/** Opens a browser context with a page, and collects the errors and warnings of its console. */
export const openVisit = async (
  browser: Browser,
  origin: string,
  { theme = 'light', width = 1_280, height = 900, storageState }: VisitOptions = {},
): Promise<Visit> => {
  const context = await browser.newContext({
    baseURL: origin,
    locale: 'en-US',
    timezoneId: 'UTC',
    colorScheme: theme,
    viewport: { width, height },
    ...(storageState && { storageState }),
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  return { context, page, faults };
};

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  violations: { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** What axe finds wrong with the page as it stands, a line each. */
export const axe = async (page: Page): Promise<string[]> => {
  // The page's policy lets no script in from elsewhere; the debugger is not held by it.
  await page.evaluate(`${axeSource}; undefined`);
  const { violations } = (await page.evaluate(
    `axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      resultTypes: ['violations'],
    })`,
  )) as AxeResult;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}\n  ${target.join(' ')}\n  ${failureSummary}`),
  );
};

const IS_SETTLED = `document.querySelector('h1') && !document.querySelector('[aria-busy="true"], .animate-pulse')`;
const LOOK_AGAIN_MS = 30;

/** Goes to a page and waits until whatever was on its way has arrived. */
export const open = async (page: Page, path: string) => {
  await page.goto(path);
  const deadlineMs = Date.now() + TIMEOUT_MS;
  while (!(await page.evaluate(IS_SETTLED))) {
    if (Date.now() > deadlineMs)
      throw new Error(`${path} is still busy: ${await page.locator('body').innerText()}`);
    await delay(LOOK_AGAIN_MS);
  }
};
