import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';

// The commands of "Carry version 0.1 over" in docs/running.md, with a local database. test/storage has the same for the rows.

const ROOT = join(import.meta.dirname, '../..');
let folder: string;

const run = (command: string) =>
  execFileSync('npx', command.replace('--remote', `--local --persist-to ${folder}`).split(' ').slice(1), {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false' },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-carry-over-'));
  const recorded = JSON.parse(
    gunzipSync(readFileSync(join(ROOT, 'test/storage/v0.1.0.json.gz'))).toString(),
  ) as { migrations: { name: string; queries: string[] }[] };
  await mkdir(join(folder, 'drizzle'));
  // In one file with the last one's name, because wrangler takes a second for each file.
  const queries = recorded.migrations.flatMap((migration) => migration.queries.map((query) => `${query};\n`));
  await writeFile(join(folder, 'drizzle', recorded.migrations.at(-1)?.name ?? ''), queries.join(''));
  await writeFile(join(folder, 'wrangler.toml'), readFileSync(join(ROOT, 'wrangler.toml')));
});

afterAll(() => rm(folder, { recursive: true }));

test('the documented commands carry a database of v0.1.0 over', () => {
  const [, block = ''] =
    /## Carry version 0\.1 over.*?```bash\n(.*?)```/s.exec(
      readFileSync(join(ROOT, 'docs/running.md'), 'utf8'),
    ) ?? [];
  const [carryOver = '', apply = ''] = block.split(/\n| && /);
  run(`${apply} --config ${join(folder, 'wrangler.toml')}`);
  run(carryOver);
  expect(run(apply)).not.toContain('0000_base.sql');
});
