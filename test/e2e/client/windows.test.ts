import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { visit } from '../support/dashboard.ts';
import { newProxy, newSeller, type Seller } from './support/application.ts';
import { copyExample, startExample, WITHOUT_ID } from './support/examples.ts';
import { cut, pass } from './support/proxy.ts';

// The examples with a window, in a real Chromium.

let seller: Seller;
beforeAll(async () => {
  seller = await newSeller({ max_activations: 1, self_service: true, entitlements: { export: true } });
});

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
};

/** Serves a folder like any static server does, and returns its URL. */
const serveFolder = async (folder: string): Promise<string> => {
  const server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '');
    readFile(join(folder, path))
      .then((content) => response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? '' }).end(content))
      .catch(() => response.writeHead(404).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
};

const openWindow = async (url: string) => {
  const { context, page, consoleErrors } = await visit();
  onTestFinished(() => context.close());
  await page.goto(url);
  return { page, consoleErrors };
};

const status = (page: Page) => page.locator('#status');
const expectStatus = async (page: Page, text: string) => {
  await expect.poll(() => status(page).innerText()).toContain(text);
};

const activate = async (page: Page, licenseKey: string) => {
  await page.getByLabel('License key').fill(licenseKey);
  await page.getByRole('button', { name: 'Activate' }).click();
};

describe('browser-page', () => {
  test('activates, starts without a network, and replaces another browser', async () => {
    const proxy = await newProxy();
    const url = await serveFolder(await copyExample('browser-page', seller, proxy.origin));
    const { license_key: licenseKey } = await seller.sell();
    const { page, consoleErrors } = await openWindow(url);
    await expectStatus(page, 'Enter your license key.');
    await activate(page, licenseKey);
    await expectStatus(page, 'Licensed.');
    await page.getByRole('button', { name: 'Export' }).click();
    await expect.poll(() => page.locator('#output').innerText()).toContain('Saturn');
    expect(consoleErrors).toEqual([]);

    proxy.behavior = cut;
    await page.reload();
    await expectStatus(page, 'Licensed.');
    proxy.behavior = pass;

    const other = await openWindow(url);
    await activate(other.page, licenseKey);
    await expectStatus(other.page, 'All seats are taken.');
    // The page knows the license key, which need not be typed again.
    await other.page.getByLabel('License key').fill('');
    await other.page.getByRole('button', { name: 'Use here instead' }).click();
    await expectStatus(other.page, 'Licensed.');
    expect(other.consoleErrors).toEqual([]);
    // Without a lease, a program that starts often asks once a day.
    await page.reload();
    await expectStatus(page, 'Licensed.');
    await page.clock.setSystemTime(Date.now() + DAY_MS);
    await page.reload();
    await expectStatus(page, 'Not licensed (not_activated)');
  });
});

describe('electron-like', () => {
  test('shows in the window what the main process found out', async () => {
    const folder = await copyExample('electron-like', seller);
    const { license_key: licenseKey } = await seller.sell();
    const env = { ORRERY_HOME: join(folder, 'home'), ...WITHOUT_ID };
    const { page, consoleErrors } = await openWindow(await startExample(folder, ['main.js'], env));
    await expectStatus(page, 'Not licensed (key_missing)');
    await activate(page, licenseKey);
    await expectStatus(page, 'Licensed. Deactivate before');
    await page.getByRole('button', { name: 'Export' }).click();
    await expect.poll(() => page.locator('#output').innerText()).toContain('Saturn');

    const otherEnv = { ...env, ORRERY_HOME: join(folder, 'other') };
    const other = await openWindow(await startExample(folder, ['main.js'], otherEnv));
    await activate(other.page, licenseKey);
    await expectStatus(other.page, 'Not licensed (no_seat)');
    // A window that is opened again has an empty field.
    await other.page.reload();
    await other.page.getByRole('button', { name: 'Use here instead' }).click();
    await expectStatus(other.page, 'Licensed. Deactivate before');
    await other.page.getByRole('button', { name: 'Deactivate' }).click();
    await expectStatus(other.page, 'Not licensed (deactivated)');
    expect([...consoleErrors, ...other.consoleErrors]).toEqual([]);

    // Another page that finds the port can't call the main process.
    const { origin } = new URL(page.url());
    expect((await fetch(`${origin}/invoke/export`, { method: 'POST', body: '[]' })).status).toBe(404);
  });
});
