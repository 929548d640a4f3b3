import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PASSPHRASE, useDeployment } from './support/deployment.ts';
import { runCommand } from './support/service.ts';

// The commands of docs/running.md that put a new entry in front of a secret, as they are written.

const world = useDeployment();

beforeAll(async () => {
  world.deployment.write('production', { vars: { PUBLIC_ORIGIN: world.cloudflare.origin } });
  await world.deployment.deploy(world.cloudflare, ['--yes']);
});

const [, section = ''] = readFileSync('docs/running.md', 'utf8').split('\n## Change a secret\n');
const BLOCKS = [...(section.split('\n## ')[0] ?? '').matchAll(/^```bash\n(.*?)^```$/gms)].map(
  ([, code = '']) => code,
);

const run = async (code: string) => {
  const variables = [...world.cloudflare.variables, PASSPHRASE];
  return runCommand(world.deployment.folder, 'env', ...variables, 'bash', '-e', '-c', code);
};

const latest = (name: string) =>
  world.cloudflare.workers
    .get('latchkey')
    ?.metadata.bindings.findLast((binding) => binding['name'] === name)?.['text'] ?? '';

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
  const files = ['present.log', 'new.log'].map((name) => join(world.deployment.folder, name));
  expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(world.deployment.read('new.log')).toBe(`${after}\n`);
  expect((await run(forget)).code).toBe(0);
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});
