// Writes a fixture of what a release stores: `node scripts/fill-release.ts <commit> <name>` fills the service of that commit,
// with its own code and packages, and writes test/storage/releases/<name>.json.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [commit, name] = process.argv.slice(2);
if (!commit || !name) throw new Error('Usage: node scripts/fill-release.ts <commit> <name>');

const checkout = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
const run = (cwd: string, command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd, stdio: 'inherit' });

run('.', 'git', 'worktree', 'add', '--force', '--detach', checkout, commit);
try {
  run(checkout, 'npm', 'ci', '--no-audit', '--no-fund');
  run(checkout, 'npm', 'run', 'build');
  const folder = join('test', 'storage', 'release');
  const fill = join(folder, 'fill.test.ts');
  cpSync(folder, join(checkout, folder), { recursive: true });
  renameSync(join(checkout, folder, 'fill.ts'), join(checkout, fill));
  run(checkout, 'npx', 'vitest', 'run', '--project', 'worker', fill, '--update');
  copyFileSync(join(checkout, folder, 'release.json'), join('test', 'storage', 'releases', `${name}.json`));
} finally {
  run('.', 'git', 'worktree', 'remove', '--force', checkout);
  rmSync(checkout, { recursive: true, force: true });
}
