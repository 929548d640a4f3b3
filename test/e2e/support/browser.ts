// A real Chromium that comes with the packages, and what every page of it has to keep to.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as playwright,
  type Page,
} from 'playwright-core';

export type Theme = 'light' | 'dark';

/** They are for one page in a small container; visitors here come several at a time. */
const NOT_FOR_SEVERAL = ['--single-process', '--no-zygote'];

const PATIENCE_MS = 10_000;

let browser: Browser | undefined;

export const openBrowser = async (): Promise<Browser> => {
  browser ??= await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((arg) => !NOT_FOR_SEVERAL.includes(arg)),
    headless: true,
  });
  return browser;
};

export const closeBrowser = async () => {
  await browser?.close();
  browser = undefined;
};

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

/** A visitor with a browser of their own. Whatever the page complains of is kept. */
export const visit = async (
  origin: string,
  { theme = 'light', width = 1_280, height = 900, storageState }: VisitOptions = {},
): Promise<Visit> => {
  const context = await (
    await openBrowser()
  ).newContext({
    baseURL: origin,
    locale: 'en-US',
    timezoneId: 'UTC',
    colorScheme: theme,
    viewport: { width, height },
    ...(storageState && { storageState }),
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE_MS);
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
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
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
  const deadlineMs = Date.now() + PATIENCE_MS;
  while (!(await page.evaluate(IS_SETTLED))) {
    if (Date.now() > deadlineMs)
      throw new Error(`${path} is still busy: ${await page.locator('body').innerText()}`);
    await delay(LOOK_AGAIN_MS);
  }
};
