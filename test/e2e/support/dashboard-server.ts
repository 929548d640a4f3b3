// Vitest global setup: one service, one Chromium and one installed client package for all test files that use them.
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { installClient } from '../client/support/install.ts';
import { launchBrowserServer } from './browser.ts';
import { checkOutBuilt } from './checkout.ts';
import { cleanUp, startService } from './service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    dashboard: { origin: string; browserEndpoint: string; clipboardLock: string };
    clientPackage: { project: string; tarball: string };
  }
}

const COMMAND = ['npm', 'run', 'dev', '--', 'test/e2e/support/worker.ts'];

// Vitest exits on SIGINT and SIGTERM but not on SIGHUP. The service and the browser are killed on exit.
const exitOnHangup = () => process.exit(129);

export default async ({ provide }: TestProject) => {
  process.once('SIGHUP', exitOnHangup);
  try {
    const folder = await checkOutBuilt();
    const [service, browserServer, { project, tarball, remove }] = await Promise.all([
      startService(folder, COMMAND),
      launchBrowserServer(),
      installClient(),
    ]);
    provide('dashboard', {
      origin: service.origin,
      browserEndpoint: browserServer.wsEndpoint(),
      clipboardLock: join(folder, '.clipboard-lock'),
    });
    provide('clientPackage', { project, tarball });
    return async () => {
      await Promise.all([browserServer.close(), cleanUp(), remove()]);
      process.off('SIGHUP', exitOnHangup);
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
};
