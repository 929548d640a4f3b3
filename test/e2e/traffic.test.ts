import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { configure, readBase } from '../../scripts/deploy/configuration.ts';
import { targetOf } from '../../scripts/deploy/target.ts';
import { checkOut } from './support/checkout.ts';
import { type Cloudflare, startCloudflare } from './support/cloudflare.ts';
import { cleanUp, runCommand } from './support/service.ts';

let folder: string;
let cloudflare: Cloudflare;

beforeAll(async () => {
  folder = await checkOut();
  cloudflare = await startCloudflare();
});
afterAll(async () => {
  await cloudflare.close();
  await cleanUp();
});
beforeEach(() => {
  cloudflare.analytics.queries.length = 0;
  cloudflare.analytics.answer = () => [];
  rmSync(join(folder, 'deploy.staging.json'), { force: true });
});

const deployed = (settings: object) =>
  writeFileSync(join(folder, 'deploy.staging.json'), JSON.stringify({ account_id: 'acc1', ...settings }));

const traffic = (...args: string[]) =>
  runCommand(
    folder,
    'env',
    ...cloudflare.variables,
    'npm',
    'run',
    '-s',
    'traffic',
    '--',
    '--env',
    'staging',
    ...args,
  );

test('a service writes its requests to Analytics Engine only where its settings say so', () => {
  const target = targetOf('staging', 'latchkey');
  const settings = { vars: {}, databases: {} };
  expect(configure(readBase(), target, settings)).not.toHaveProperty('analytics_engine_datasets');
  expect(configure(readBase(), target, { ...settings, traffic: true }).analytics_engine_datasets).toEqual([
    { binding: 'TRAFFIC', dataset: 'latchkey_staging_requests' },
  ]);
});

test('the traffic of all isolates is summed, with how verifies were answered', async () => {
  deployed({ traffic: true });
  cloudflare.analytics.answer = (query) => {
    if (query.includes('quantileExactWeighted')) return [{ p50: 12, p95: 40, p99: 95 }];
    if (!query.includes('GROUP BY')) return [{ requests: '2000000', refused: 50_000, failed: 20 }];
    return [
      {
        method: 'POST',
        route: '/api/v1/licenses/verify',
        status: '200',
        code: '',
        requests: '1949980',
      },
      {
        method: 'POST',
        route: '/api/v1/licenses/verify',
        status: '429',
        code: 'rate_limit_exceeded',
        requests: 50_000,
      },
    ];
  };
  const { code, stdout, stderr } = await traffic('--hours', '6');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n').map((line) => line.trim())).toEqual([
    'latchkey-staging, the last 6 hours',
    'requests  2,000,000',
    '4xx       50,000 (2.50 %)',
    '5xx       20 (0.00 %)',
    'verify    p50 12 ms, p95 40 ms, p99 95 ms in the Worker',
    '1,949,980  POST /api/v1/licenses/verify 200',
    '50,000  POST /api/v1/licenses/verify 429 rate_limit_exceeded',
    '',
  ]);
  expect(cloudflare.analytics.queries).toHaveLength(3);
  for (const query of cloudflare.analytics.queries)
    expect(query).toMatch(
      /FROM latchkey_staging_requests WHERE timestamp > NOW\(\) - INTERVAL '6' HOUR.* FORMAT JSON$/,
    );
});

test('a service that was asked nothing has no times and no failures', async () => {
  deployed({ traffic: true });
  const { code, stdout } = await traffic();
  expect(code).toBe(0);
  expect(stdout).toBe(
    'latchkey-staging, the last 24 hours\nrequests  0\n4xx       0 (0 %)\n5xx       0 (0 %)\n',
  );
});

test.for([
  { settings: {}, args: [], says: 'deploy.staging.json has no "traffic": true' },
  { settings: { traffic: true }, args: ['--hours', '0'], says: '--hours takes a number from 1 to 2160' },
  { settings: { traffic: true }, args: [], says: 'Account Analytics: Read' },
])('says what is missing: $says', async ({ settings, args, says }) => {
  deployed(settings);
  cloudflare.analytics.answer = () => null;
  const { code, stdout, stderr } = await traffic(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(says);
});
