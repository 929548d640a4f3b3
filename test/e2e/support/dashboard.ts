// The dashboard under test: the shared service, and a connection to the shared browser.
import { mkdir, rmdir } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium, type Locator, type Page } from 'playwright-core';
import { inject } from 'vitest';
import { afterFile } from './after-file.ts';
import { openVisit, type Visit, type VisitOptions } from './browser.ts';
import { type Customer, storageStateOf } from './customer.ts';
import { reportOnFailure } from './report-failure.ts';
import { clientOf } from './service.ts';

const { origin, browserEndpoint, clipboardLock } = inject('dashboard');

export const service = clientOf(origin);

/** Test files of a worker share the connection. */
const browser = await chromium.connect(browserEndpoint);

/** Opens a signed-out browser context, which is closed at the end of the test file. */
export const visit = async (options: VisitOptions = {}): Promise<Visit> => {
  const opened = await openVisit(browser, origin, options);
  reportOnFailure(opened.page);
  afterFile(async () => {
    // The page also calls the service by itself. A route handler that is answering such a call fails when the page is closed.
    if (!opened.page.isClosed()) await opened.page.unrouteAll({ behavior: 'ignoreErrors' });
    await opened.context.close();
  });
  return opened;
};

/** Opens a browser context in which the customer is signed in. */
export const visitAs = (
  customer: Pick<Customer, 'accountId' | 'token'>,
  options: VisitOptions = {},
): Promise<Visit> => visit({ ...options, storageState: storageStateOf(origin, customer) });

const lockClipboard = async (): Promise<void> => {
  for (;;) {
    try {
      return await mkdir(clipboardLock);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      await delay(20);
    }
  }
};

/** Runs steps that copy and read. All test files share the clipboard of the browser, and run at the same time. */
export const withClipboard = async (steps: () => Promise<void>): Promise<void> => {
  await lockClipboard();
  try {
    await steps();
  } finally {
    await rmdir(clipboardLock);
  }
};

/** Clicks a button or link, and returns the file that the page then offers. */
export const downloadBy = async (page: Page, target: Locator): Promise<{ name: string; text: string }> => {
  const [download] = await Promise.all([page.waitForEvent('download'), target.click()]);
  return { name: download.suggestedFilename(), text: await readText(await download.createReadStream()) };
};

/**
 * Lets the service answer the page's next change of what has this path, and loses the answer. The page does so itself, because
 * Playwright may hold a request that it intercepts for good.
 */
export const loseNextAnswer = (page: Page, path: string) =>
  page.evaluate(`{
    const send = window.fetch;
    window.fetch = async (...call) => {
      const response = await send(...call);
      const { method } = call[0] instanceof Request ? call[0] : { method: 'GET', ...call[1] };
      if (method === 'GET' || !new URL(response.url).pathname.endsWith('${path}')) return response;
      window.fetch = send;
      throw new TypeError('Failed to fetch');
    };
  }`);
