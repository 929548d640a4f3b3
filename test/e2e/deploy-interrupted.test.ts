import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { PASSPHRASE, useDeployment } from './support/deployment.ts';

// The first deployment has the secrets in a file that wrangler reads. Nobody finds it there afterwards.

const world = useDeployment();

const findSecrets = (temporary: string) =>
  readdirSync(temporary).filter((name) => existsSync(join(temporary, name, 'secrets')));

test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a first deployment that %s ends leaves no secrets behind',
  async (signal) => {
    const temporary = join(world.deployment.folder, `.wrangler/tmp-${signal}`);
    mkdirSync(temporary, { recursive: true });
    world.deployment.write('production', { vars: { PUBLIC_ORIGIN: world.cloudflare.origin } });
    const variables = [
      `HOME=${temporary}`,
      `TMPDIR=${temporary}`,
      `PATH=${resolve('node_modules/.bin')}:${process.env['PATH']}`,
      ...world.cloudflare.variables,
      PASSPHRASE,
    ];
    const child = spawn('env', ['-i', ...variables, 'node', 'scripts/deploy.ts', '--yes'], {
      cwd: world.deployment.folder,
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(child, 'close');
    await vi.waitUntil(() => findSecrets(temporary).length > 0, { timeout: 600_000, interval: 5 });
    // A terminal, too, tells the whole group.
    process.kill(-(child.pid ?? 0), signal);
    const [code] = (await ended) as [number | null];
    expect(findSecrets(temporary)).toEqual([]);
    expect([code, world.cloudflare.workers.size]).toEqual([128 + constants.signals[signal], 0]);
  },
);
