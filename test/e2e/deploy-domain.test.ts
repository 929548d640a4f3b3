import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Cloudflare, startCloudflare } from './support/cloudflare.ts';
import { checkOutDeployment, type Deployment } from './support/deployment.ts';
import { cleanUp } from './support/service.ts';

// A deployment takes a domain from nobody: neither from another Worker, nor from a website. Nor does it take an address away from
// its own service.

const DOMAIN = 'licenses.example.com';

let deployment: Deployment;
let cloudflare: Cloudflare;

beforeAll(async () => {
  deployment = await checkOutDeployment();
});
afterAll(cleanUp);
beforeEach(async () => {
  deployment.forget();
  cloudflare = await startCloudflare();
  return () => cloudflare.close();
});

const own = (environment: string, domain = DOMAIN) =>
  deployment.write(environment, { domain, vars: { PUBLIC_ORIGIN: cloudflare.origin } });
const deploy = (...args: string[]) => deployment.deploy(cloudflare, args);
const isOnWorkersDev = () => cloudflare.workers.get('latchkey')?.isOnWorkersDev;

test('a new service gets only its domain, once, and the plan names it each time', async () => {
  own('production');
  const first = await deploy('--yes');
  expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
  expect(first.stdout).toContain(`Connect ${DOMAIN} to the Worker`);
  expect([...cloudflare.domains]).toEqual([[DOMAIN, 'latchkey']]);
  expect(isOnWorkersDev()).toBe(false);
  const second = await deploy('--yes');
  expect(isOnWorkersDev()).toBe(false);
  expect(second.stdout).toContain(`latchkey (production) at ${DOMAIN}`);
  expect(second.stdout).not.toContain('Connect');
});

test('a deployment stops before it makes anything if another Worker has the domain', async () => {
  cloudflare.domains.set(DOMAIN, 'shop');
  own('production', 'Licenses.example.com');
  const { code, stderr } = await deploy('--yes');
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${DOMAIN} is the domain of the Worker shop`)]);
  expect(cloudflare.changes).toEqual([]);
});

test('a deployment stops before it makes anything if another environment has the domain', async () => {
  own('production');
  own('staging', 'Licenses.example.com');
  const { code, stderr } = await deploy('--env', 'staging', '--yes');
  expect([code, stderr]).toEqual([1, expect.stringContaining('deploy.production.json has the domain')]);
  expect(cloudflare.changes).toEqual([]);
});

test('a deployment never replaces a DNS record, and goes on once it is gone', async () => {
  cloudflare.domains.set(DOMAIN, null);
  own('production');
  const { code, stderr } = await deploy('--yes');
  expect([code, stderr]).toEqual([1, expect.stringContaining('already has externally managed DNS records')]);
  expect([...cloudflare.domains]).toEqual([[DOMAIN, null]]);
  cloudflare.domains.clear();
  expect((await deploy('--yes')).code).toBe(0);
  expect([...cloudflare.domains]).toEqual([[DOMAIN, 'latchkey']]);
});

test('a service that gets a domain keeps its address if the domain is refused', async () => {
  deployment.write('production', { vars: { PUBLIC_ORIGIN: cloudflare.origin } });
  expect((await deploy('--yes')).code).toBe(0);
  cloudflare.domains.set(DOMAIN, null);
  own('production');
  cloudflare.changes.length = 0;
  expect((await deploy('--yes')).code).toBe(1);
  expect(cloudflare.changes).toEqual(['PUT /workers/scripts/latchkey/domains/records']);
});

test('a service that gets a domain, or another one, still answers where it did', async () => {
  deployment.write('production', { vars: { PUBLIC_ORIGIN: cloudflare.origin } });
  expect((await deploy('--yes')).code).toBe(0);
  expect(isOnWorkersDev()).toBe(true);
  own('production');
  expect((await deploy('--yes')).code).toBe(0);
  own('production', 'keys.example.com');
  expect((await deploy('--yes')).code).toBe(0);
  expect([...cloudflare.domains]).toEqual([
    [DOMAIN, 'latchkey'],
    ['keys.example.com', 'latchkey'],
  ]);
  expect(isOnWorkersDev()).toBe(true);
});
