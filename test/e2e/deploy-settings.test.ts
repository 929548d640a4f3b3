import { beforeEach, expect, test } from 'vitest';
import type { Configuration } from '../../scripts/deploy/configuration.ts';
import { useDeployment } from './support/deployment.ts';

// What `npm run deploy` makes of the operator's own settings.

const world = useDeployment();
beforeEach(() => {
  world.deployment.forget();
  world.cloudflare.changes.length = 0;
});

const own = (environment: string, settings: object) => world.deployment.write(environment, settings);
const deploy = (...args: string[]) => world.deployment.deploy(world.cloudflare, args);

/** Returns the variables that Cloudflare would get: the first change is refused, and the configuration is written before. */
const plannedVars = async () => {
  world.cloudflare.refuseAfter(0);
  expect((await deploy('--yes')).code).toBe(1);
  world.cloudflare.refuseAfter(Infinity);
  return (JSON.parse(world.deployment.read('wrangler.production.json')) as Configuration).vars;
};

test.for([
  ['its address on workers.dev', {}, 'https://latchkey.orrery.workers.dev'],
  ['its domain', { domain: 'licenses.example.com' }, 'https://licenses.example.com'],
  ['the operator’s choice', { vars: { PUBLIC_ORIGIN: 'https://l.example' } }, 'https://l.example'],
  [
    'an origin that ends with a slash',
    { vars: { PUBLIC_ORIGIN: 'https://l.example/' } },
    'https://l.example',
  ],
] as const)('a service’s emails lead to %s', async ([, settings, origin]) => {
  own('production', settings);
  expect(await plannedVars()).toMatchObject({ PUBLIC_ORIGIN: origin });
});

test('the deployment asks for the health at an origin that ends with a slash', async () => {
  own('production', { vars: { PUBLIC_ORIGIN: 'https://licenses.example.com/' } });
  const { stdout } = await deploy('--dry-run');
  expect(stdout).toContain('https://licenses.example.com/health');
});

test.for([
  [{ vars: { PUBLIC_ORIGIN: 'licenses.example.com' } }, 'PUBLIC_ORIGIN'],
  [{ vars: { PUBLIC_ORIGIN: 'https://example.com/licenses' } }, 'PUBLIC_ORIGIN'],
  [{ domain: 'https://licenses.example.com' }, 'domain'],
] as const)('no deployment begins with %j', async ([settings, name]) => {
  own('production', settings);
  const { code, stderr } = await deploy('--yes');
  expect([code, stderr]).toEqual([1, expect.stringContaining(`deploy.production.json: ${name} must be`)]);
  expect(world.cloudflare.changes).toEqual([]);
});
