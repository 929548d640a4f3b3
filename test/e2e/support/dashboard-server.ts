// Vitest global setup: one service and one Chromium for all test files of the dashboard.
import type { TestProject } from 'vitest/node';
import { launchBrowserServer } from './browser.ts';
import { checkOut, cleanUp, startService } from './service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    dashboard: { origin: string; browserEndpoint: string };
  }
}

// Vitest exits on SIGINT and SIGTERM but not on SIGHUP. The service and the browser are killed on exit.
const exitOnHangup = () => process.exit(129);

export default async ({ provide }: TestProject) => {
  process.once('SIGHUP', exitOnHangup);
  try {
    const [service, browserServer] = await Promise.all([
      checkOut().then((folder) => startService(folder)),
      launchBrowserServer(),
    ]);
    provide('dashboard', { origin: service.origin, browserEndpoint: browserServer.wsEndpoint() });
    return async () => {
      await Promise.all([browserServer.close(), cleanUp()]);
      process.off('SIGHUP', exitOnHangup);
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
};
