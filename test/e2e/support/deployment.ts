// A checkout in which `npm run deploy` runs as docs/deploying.md shows it, with the real wrangler.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { checkOutBuilt } from './checkout.ts';
import { type Cloudflare, startCloudflare } from './cloudflare.ts';
import { cleanUp, runCommand } from './service.ts';

export const PASSPHRASE = 'LATCHKEY_PASSPHRASE=correct horse battery staple';

export const checkOutDeployment = async () => {
  const folder = await checkOutBuilt();
  // `npm test` has built the assets.
  const config = join(folder, 'wrangler.toml');
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace('command = "node scripts/build.ts"', 'command = "true"'),
  );
  return {
    folder,

    read: (file: string) => readFileSync(join(folder, file), 'utf8'),

    /** Deletes what earlier deployments have written. */
    forget: () => {
      for (const environment of ['production', 'staging'])
        for (const file of [
          `deploy.${environment}.json`,
          `deploy.${environment}.recovery`,
          `wrangler.${environment}.json`,
        ])
          rmSync(join(folder, file), { force: true });
    },

    write: (environment: string, settings: object) =>
      writeFileSync(join(folder, `deploy.${environment}.json`), JSON.stringify(settings)),

    deploy: (cloudflare: Cloudflare, args: string[], variables = [PASSPHRASE]) =>
      runCommand(
        folder,
        'env',
        ...cloudflare.variables,
        ...variables,
        'npm',
        'run',
        '-s',
        'deploy',
        '--',
        ...args,
      ),
  };
};

export type Deployment = Awaited<ReturnType<typeof checkOutDeployment>>;

/** A checkout for all tests of a file, and a Cloudflare account that it is deployed to. Both are there once the tests begin. */
export const useDeployment = () => {
  const world = {} as { deployment: Deployment; cloudflare: Cloudflare };
  beforeAll(async () => {
    world.deployment = await checkOutDeployment();
    world.cloudflare = await startCloudflare();
  });
  afterAll(async () => {
    await world.cloudflare.close();
    await cleanUp();
  });
  return world;
};
