import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
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
    env: { ...process.env, CI: 'true', WRANGLER_LOG: 'log', WRANGLER_SEND_METRICS: 'false' },
  });

/** Makes one migration of many, with the name of the last, because wrangler takes a second for each file. */
const writeJoined = async (migrations: { name: string; sql: string }[]) => {
  await mkdir(join(folder, 'drizzle'), { recursive: true });
  const sql = migrations.map((migration) => migration.sql).join('\n');
  await writeFile(join(folder, 'drizzle', migrations.at(-1)?.name ?? ''), sql);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-carry-over-'));
  const recorded = JSON.parse(
    gunzipSync(readFileSync(join(ROOT, 'test/storage/v0.1.0.json.gz'))).toString(),
  ) as { migrations: { name: string; queries: string[] }[] };
  await writeFile(join(folder, 'wrangler.toml'), readFileSync(join(ROOT, 'wrangler.toml')));
  await writeJoined(
    recorded.migrations.map(({ name, queries }) => ({
      name,
      sql: queries.map((query) => `${query};\n`).join(''),
    })),
  );
});

afterAll(() => rm(folder, { recursive: true }));

test('the documented commands carry a database of v0.1.0 over', async () => {
  const [, block = ''] =
    /## Carry version 0\.1 over.*?```bash\n(.*?)```/s.exec(
      readFileSync(join(ROOT, 'docs/running.md'), 'utf8'),
    ) ?? [];
  const [carryOver = '', apply = ''] = block.split(/\n| && /);
  const applyHere = `${apply} --config ${join(folder, 'wrangler.toml')}`;
  run(applyHere);
  run(carryOver);
  const [base, ...later] = readdirSync(join(ROOT, 'drizzle'))
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => ({ name, sql: readFileSync(join(ROOT, 'drizzle', name), 'utf8') }));
  await rm(join(folder, 'drizzle'), { recursive: true });
  await writeJoined([base!]);
  await writeJoined(later);
  const applied = run(applyHere);
  expect(applied).toContain(later.at(-1)?.name);
  expect(applied).not.toContain('0000_base.sql');
});
