import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cloudflare, startCloudflare } from './support/cloudflare.ts';
import { checkOutDeployment, type Deployment, PASSPHRASE } from './support/deployment.ts';
import { cleanUp, runCommand } from './support/service.ts';

// The commands of docs/running.md that put a new entry in front of a secret, as they are written.

vi.setConfig({ testTimeout: 300_000 });

let deployment: Deployment;
let cloudflare: Cloudflare;

beforeAll(async () => {
  deployment = await checkOutDeployment();
  cloudflare = await startCloudflare();
  deployment.write('production', { vars: { PUBLIC_ORIGIN: cloudflare.origin } });
  await deployment.deploy(cloudflare, ['--yes']);
});
afterAll(async () => {
  await cloudflare.close();
  await cleanUp();
});

const [, section = ''] = readFileSync('docs/running.md', 'utf8').split('\n## Change a secret\n');
const BLOCKS = [...(section.split('\n## ')[0] ?? '').matchAll(/^```bash\n(.*?)^```$/gms)].map(
  ([, code = '']) => code,
);

const run = async (code: string) => {
  const variables = [...cloudflare.variables, PASSPHRASE];
  return runCommand(deployment.folder, 'env', ...variables, 'bash', '-e', '-c', code);
};

const latest = (name: string) =>
  cloudflare.workers.get('latchkey')?.metadata.bindings.findLast((binding) => binding['name'] === name)?.[
    'text'
  ] ?? '';

test('a rotated secret is in a file of the operator’s before the Worker has it, in front of the present one', async () => {
  const before = latest('SIGNING_KEYS');
  expect(before).not.toBe('');
  const forget = BLOCKS.at(-1) ?? '';
  for (const block of BLOCKS.slice(0, -1))
    expect(await run(block)).toEqual({ code: 0, stdout: expect.any(String), stderr: '' });
  const after = latest('SIGNING_KEYS');
  const [added = '', ...others] = after.split(',');
  expect(others).toEqual([before]);
  expect(Buffer.from(added, 'base64').length).toBe(32);
  const files = ['present.log', 'new.log'].map((name) => join(deployment.folder, name));
  expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(deployment.read('new.log')).toBe(`${after}\n`);
  expect((await run(forget)).code).toBe(0);
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});
