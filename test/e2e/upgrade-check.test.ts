import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// `npm run upgrade-check`, in a repository with two releases.

const SCRIPT = join(import.meta.dirname, '../../scripts/upgrade-check.ts');

let folder: string;

const git = (...args: string[]) => {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
  const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};

const write = (files: Record<string, string>) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
};

const release = (tag: string, files: Record<string, string>) => {
  write(files);
  git('add', '-A');
  git('commit', '-q', '-m', tag);
  git('tag', tag);
};

const check = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

const CONFIGURATION = `
compatibility_date = "2026-10-20"
[secrets]
required = ["API_KEY_SECRET"]
[vars]
REGIONS = "on"
OLD_NAME = "1"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["AccountGate"]
[triggers]
crons = ["17 * * * *"]
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-upgrade-'));
  git('init', '-q');
  release('v1.0.0', {
    '.gitignore': 'deploy.*.json\n',
    'wrangler.toml': CONFIGURATION,
    'package.json': '{"version":"1.0.0","engines":{"node":">=22"}}',
    'CHANGELOG.md': '# Changelog\n\n## 1.0.0\n\n- The first\n',
    'src/gate/home/copy-tables.ts': 'export const COPY_VERSION = 3;\n',
    'drizzle/0000_base.sql': 'SELECT 1;',
  });
  release('v1.0.1', { 'src/index.ts': '' });
  release('v1.1.0', {
    'wrangler.toml': CONFIGURATION.replace('"on"', '"off"')
      .replace('OLD_NAME = "1"', 'NEW_NAME = "2"')
      .replace('"API_KEY_SECRET"', '"API_KEY_SECRET", "SIGNING_KEYS"')
      .replace('[triggers]', '[[migrations]]\ntag = "v2"\nnew_sqlite_classes = ["GateBranch"]\n[triggers]'),
    'package.json': '{"version":"1.1.0","engines":{"node":">=24"}}',
    'CHANGELOG.md': '# Changelog\n\n## 1.1.0\n\n- Regions\n\n## 1.0.0\n\n- The first\n',
    'src/gate/home/copy-tables.ts': 'export const COPY_VERSION = 4;\n',
    'drizzle/0001_regions.sql': 'SELECT 2;',
  });
  git('checkout', '-q', 'v1.0.0');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('says which migrations, settings, secrets, and objects a release changes, and changes nothing', () => {
  write({ 'deploy.production.json': '{"vars":{"OLD_NAME":"7","REGIONS":"on"}}' });
  const { status, stdout, stderr } = check('v1.1.0');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^From 1\.0\.0 \(\w{8}\) to 1\.1\.0 \(\w{8}\):\n/);
  for (const line of [
    '  0001_regions.sql\n',
    '  new: NEW_NAME, "2" unless set\n',
    '  gone: OLD_NAME, which your settings have: take it out\n',
    '  another default: REGIONS, "off" instead of "on"; yours stays\n',
    '  SIGNING_KEYS\n',
    '  the Durable Objects GateBranch\n',
    '  Node.js for the commands: >=24 instead of >=22\n',
    '  each gate loads its copy again within ten minutes of its next call\n',
    '  - Regions\n',
  ])
    expect(stdout).toContain(line);
  expect(stdout).not.toContain('The first');
  expect(stdout).not.toContain('0000_base.sql');
  expect(spawnSync('git', ['status', '--porcelain'], { cwd: folder, encoding: 'utf8' }).stdout).toBe('');
});

test('says that only code changes, and which release it doesn’t know', () => {
  expect(check('v1.0.1').stdout).toContain('\nOnly code changes.\n');
  expect(check('v9')).toMatchObject({ status: 1, stderr: expect.stringContaining('Git doesn’t know v9.') });
  expect(check('--from', 'v1.1.0', 'v1.0.0').stdout).toContain(
    'gone: 0001_regions.sql. Is it an older release?',
  );
});
