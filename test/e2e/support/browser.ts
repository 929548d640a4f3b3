// Chromium, which comes with the npm packages, and checks that apply to every page.
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

/** With these flags, Chromium runs in one process, which can't serve several contexts at a time. */
const SINGLE_PROCESS_FLAGS = ['--single-process', '--no-zygote', '--in-process-gpu'];

/**
 * A process may crash if it adds a second variable to its environment while its threads read others. Chromium adds this one as it
 * starts, unless it is set. The code for the GPU adds another, so it runs in a process of its own.
 */
const SET_BY_CHROMIUM = { DBUS_SESSION_BUS_ADDRESS: 'disabled:' };

/** Pages live too briefly for what V8 optimizes: without it, loading a page and checking it with axe takes a third less. */
const FEWER_COMPILERS = '--js-flags=--no-opt --no-maglev';

// Without a GPU, Chromium would compute WebGL and the composition of every frame in SwiftShader, which takes most of the
// browser's CPU time. Its software compositor is several times faster.
chromium.setGraphicsMode = false;

const TIMEOUT_MS = 40_000;

const launchOptions = async () => ({
  executablePath: await chromium.executablePath(),
  args: [...chromium.args.filter((arg) => !SINGLE_PROCESS_FLAGS.includes(arg)), FEWER_COMPILERS],
  env: { ...process.env, ...SET_BY_CHROMIUM },
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
  /** Errors and warnings on the console, which include violations of the Content-Security-Policy. */
  consoleErrors: string[];
}

export interface VisitOptions {
  theme?: Theme;
  width?: number;
  height?: number;
  storageState?: BrowserContextOptions['storageState'];
}

const NOBODYS_URL = 'https://nobody.invalid/';

type RouteHandler = Parameters<Page['route']>[1];

/** Playwright goes on with the requests of a route that a test takes away, also with one that its handler is still to answer. */
const unlessTakenAway =
  (handler: RouteHandler): RouteHandler =>
  async (...call) => {
    try {
      await handler(...call);
    } catch (error) {
      if (!String(error).includes('Route is already handled')) throw error;
    }
  };

/**
 * Once a route intercepts a page's requests, all requests stay intercepted. When Playwright ends that with the last route, Chromium
 * fails requests that are under way, or never answers them.
 */
const keepIntercepting = (context: BrowserContext, page: Page): void => {
  const route = page.route.bind(page);
  let kept: Promise<unknown> | undefined;
  page.route = async (url, handler, options) => {
    await (kept ??= context.route(NOBODYS_URL, (nobodys) => nobodys.fallback()));
    return route(url, unlessTakenAway(handler), options);
  };
};

const RECORD_TOASTS = `{
  globalThis.shownToasts = [];
  const seen = new WeakSet();
  new MutationObserver(() => {
    for (const title of document.querySelectorAll('[aria-label="Notifications"] h2')) {
      if (seen.has(title) || !title.checkVisibility({ visibilityProperty: true })) continue;
      seen.add(title);
      shownToasts.push({ type: title.dataset.type, text: title.textContent });
    }
  }).observe(document, { childList: true, subtree: true });
}`;

/**
 * A toast leaves the page within seconds, for which the tests' process may stand still, so each page records what it has shown.
 * No test acts on a page before this event. An init script would also be sent to sandboxed frames, where Chromium reports an error.
 */
const recordToasts = (page: Page) =>
  page.on('domcontentloaded', () => {
    // It fails if the page is closed, or goes on to another.
    page.evaluate(RECORD_TOASTS).catch(() => {});
  });

/** Opens a page in its own browser context. */
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
  context.on('page', recordToasts);
  const page = await context.newPage();
  keepIntercepting(context, page);
  const consoleErrors: string[] = [];
  page.on('pageerror', (error) => consoleErrors.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') consoleErrors.push(message.text());
  });
  return { context, page, consoleErrors };
};

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  violations: { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/**
 * Finishes every transition and animation, including those that start within the next frames, as an opening dialog's does. Endless
 * ones, such as a spinner, keep running.
 */
const SETTLE = `(async () => {
  const moving = () => document.getAnimations().filter(
    ({ effect, playState }) => playState !== 'finished' && effect.getComputedTiming().endTime !== Infinity,
  );
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let quiet = 0; quiet < 2; quiet++) {
    await frame();
    for (const animation of moving()) {
      animation.finish();
      quiet = 0;
    }
  }
})()`;

/** Returns the accessibility violations that axe finds on the page, once nothing on it moves. */
export const axeViolations = async (page: Page): Promise<string[]> => {
  // The Content-Security-Policy blocks a script tag, but not a script that the debugger evaluates.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(`${axeSource}; undefined`);
  await page.evaluate(SETTLE);
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

const IS_LOADED = `document.querySelector('h1') && !document.querySelector('[aria-busy="true"], .animate-pulse')`;
const POLL_INTERVAL_MS = 30;

/** Stops a page from asking for events, which would find before the test's own click that the session has ended. */
export const stopFollowing = (page: Page) => page.route('**/api/events?**', (route) => route.abort());

/** Opens a path and waits until the page has loaded its data. */
export const openPage = async (page: Page, path: string) => {
  await page.goto(path);
  const deadlineMs = Date.now() + TIMEOUT_MS;
  while (!(await page.evaluate(IS_LOADED))) {
    if (Date.now() > deadlineMs)
      throw new Error(`${path} is still loading: ${await page.locator('body').innerText()}`);
    await delay(POLL_INTERVAL_MS);
  }
};

interface Toast {
  type: 'done' | 'error';
  text: string;
}

/**
 * Waits until the page has shown a toast with this text since it was loaded. Takes the toast out of the page's record, so that an
 * equal one has to come again.
 */
export const waitForToast = async (
  page: Page,
  text: string | RegExp,
  type: Toast['type'] = 'done',
): Promise<void> => {
  const isWanted = (toast: Toast) =>
    toast.type === type && (typeof text === 'string' ? toast.text === text : text.test(toast.text));
  const deadlineMs = Date.now() + TIMEOUT_MS;
  for (;;) {
    // A page that has just been opened has no record yet, and one that is being left can't be asked.
    const shown = (await page.evaluate('globalThis.shownToasts ?? []').catch(() => [])) as Toast[];
    const index = shown.findIndex(isWanted);
    if (index !== -1) {
      await page.evaluate(`shownToasts.splice(${index}, 1)`);
      return;
    }
    if (Date.now() > deadlineMs)
      throw new Error(`${page.url()} has shown no toast ${text}, only ${JSON.stringify(shown)}`);
    await delay(POLL_INTERVAL_MS);
  }
};
