// Tells what a browser test saw when it failed. On another machine, the report is all there is to find the cause.
import type { Page } from 'playwright-core';
import type { TestContext } from 'vitest';

const MAX_LINES = 40;

interface Seen {
  page: Page;
  /** Changes, requests without a successful response, and pages that were opened. */
  lines: string[];
}

const pages = new Set<Seen>();

/** Lets a failed test report what this page shows and which of its requests failed. */
export const reportOnFailure = (page: Page): void => {
  const lines: string[] = [];
  const note = (line: string) => lines.push(`${new Date().toISOString().slice(11, 23)} ${line}`);
  page.on('framenavigated', (frame) => note(`opened ${frame.url()}`));
  page.on('request', (request) => {
    if (request.method() !== 'GET') note(`${request.method()} ${request.url()}`);
  });
  page.on('requestfailed', (request) =>
    note(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`),
  );
  page.on('response', (response) => {
    if (response.status() >= 400)
      note(`${response.request().method()} ${response.url()}: ${response.status()}`);
  });
  const seen = { page, lines };
  pages.add(seen);
  page.once('close', () => pages.delete(seen));
};

const report = async ({ page, lines }: Seen): Promise<string> => {
  const read = (selector: string) =>
    page.locator(selector).last().innerText({ timeout: 1_000 }).catch(String);
  const texts = [await read('[role=dialog], [role=alertdialog]'), await read('body')];
  const shown = texts.flatMap((text) => text.split('\n').slice(0, MAX_LINES));
  return [page.url(), ...lines.slice(-MAX_LINES), ...shown].join('\n  ');
};

/** Runs after each test. */
export const reportFailure = async ({ task }: Pick<TestContext, 'task'>): Promise<void> => {
  if (task.result?.state !== 'fail') return;
  for (const seen of pages) console.error(await report(seen));
};
