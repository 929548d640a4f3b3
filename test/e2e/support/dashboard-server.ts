// Vitest global setup: one service and one Chromium for all test files of the dashboard.
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { launchBrowserServer } from './browser.ts';
import { checkOut, cleanUp, startService } from './service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    dashboard: { origin: string; browserEndpoint: string; clipboardLock: string };
  }
}

// Vitest exits on SIGINT and SIGTERM but not on SIGHUP. The service and the browser are killed on exit.
const exitOnHangup = () => process.exit(129);

export default async ({ provide }: TestProject) => {
  process.once('SIGHUP', exitOnHangup);
  try {
    const folder = await checkOut();
    const [service, browserServer] = await Promise.all([startService(folder), launchBrowserServer()]);
    provide('dashboard', {
      origin: service.origin,
      browserEndpoint: browserServer.wsEndpoint(),
      clipboardLock: join(folder, '.clipboard-lock'),
    });
    return async () => {
      await Promise.all([browserServer.close(), cleanUp()]);
      process.off('SIGHUP', exitOnHangup);
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
};
