import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cloudflare, startCloudflare } from './support/cloudflare.ts';
import { checkOutDeployment, type Deployment, PASSPHRASE } from './support/deployment.ts';
import { cleanUp } from './support/service.ts';

// The first deployment has the secrets in a file that wrangler reads. Nobody finds it there afterwards.

vi.setConfig({ testTimeout: 660_000 });

let deployment: Deployment;
let cloudflare: Cloudflare;

beforeAll(async () => {
  deployment = await checkOutDeployment();
  cloudflare = await startCloudflare();
});
afterAll(async () => {
  await cloudflare.close();
  await cleanUp();
});

const findSecrets = (temporary: string) =>
  readdirSync(temporary).filter((name) => existsSync(join(temporary, name, 'secrets')));

test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a first deployment that %s ends leaves no secrets behind',
  async (signal) => {
    const temporary = join(deployment.folder, `.wrangler/tmp-${signal}`);
    mkdirSync(temporary, { recursive: true });
    deployment.write('production', { vars: { PUBLIC_ORIGIN: cloudflare.origin } });
    const variables = [
      `HOME=${temporary}`,
      `TMPDIR=${temporary}`,
      `PATH=${resolve('node_modules/.bin')}:${process.env['PATH']}`,
      ...cloudflare.variables,
      PASSPHRASE,
    ];
    const child = spawn('env', ['-i', ...variables, 'node', 'scripts/deploy.ts', '--yes'], {
      cwd: deployment.folder,
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(child, 'close');
    await vi.waitUntil(() => findSecrets(temporary).length > 0, { timeout: 600_000, interval: 5 });
    // A terminal, too, tells the whole group.
    process.kill(-(child.pid ?? 0), signal);
    const [code] = (await ended) as [number | null];
    expect(findSecrets(temporary)).toEqual([]);
    expect([code, cloudflare.workers.size]).toEqual([128 + constants.signals[signal], 0]);
  },
);
