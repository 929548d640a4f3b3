// `npm run release -- minor`: checks the client package and shows what a release would write. With `--write`, it writes the
// version, CHANGELOG.md, and the package's file, commits them, and tags the commit. It publishes and pushes nothing.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LEVELS, nextVersion, withVersion } from './changelog.ts';

const MANIFESTS = ['package.json', 'src/client/package.json', 'package-lock.json'].filter((file) =>
  existsSync(file),
);
/** Commits that change nothing of these are none of what users notice. */
const RELEASED = ['src', 'drizzle', 'wrangler.toml', 'package.json'];
const CHANGELOG = 'CHANGELOG.md';

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();

const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

const run = (...[command = '', ...args]: string[]) => {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.`);
};

const lastTag = (): string | null => {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*'], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : null;
};

const subjectsSince = (tag: string | null): string[] => {
  const range = tag === null ? 'HEAD' : `${tag}..HEAD`;
  return git('log', '--no-merges', '--format=%s', range, '--', ...RELEASED)
    .split('\n')
    .filter(Boolean);
};

const fileOf = (version: string) => `latchkey-client-${version}.tgz`;

interface Manifest {
  version: string;
  /** Of a lock file. The package itself is the one without a name. */
  packages?: Record<string, { version: string }>;
}

/** Sets the version where it is written: in manifests, and in the file's name in the documentation. */
const writeVersion = (from: string, to: string) => {
  for (const file of MANIFESTS) {
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    manifest.version = to;
    if (manifest.packages?.['']) manifest.packages[''].version = to;
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  for (const file of git('ls-files', '*.md').split('\n')) {
    const text = readFileSync(file, 'utf8');
    const written = text.replaceAll(fileOf(from), fileOf(to));
    if (written !== text) writeFileSync(file, written);
  }
};

const release = (from: string, to: string, changelog: string) => {
  writeFileSync(CHANGELOG, changelog);
  if (from !== to) writeVersion(from, to);
  run('npm', 'run', 'check:client');
  mkdirSync('releases', { recursive: true });
  copyFileSync(join('dist/client', fileOf(to)), join('releases', fileOf(to)));
  git('add', '--all');
  git('commit', '--quiet', '--message', `Release ${to}`);
  git('tag', '--annotate', `v${to}`, '--message', `Release ${to}`);
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const { version: from } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const to =
  nextVersion(from, positionals[0] ?? '') ??
  fail(`Say which version: npm run release -- ${LEVELS.join('|')}|${from} [--write]`);
if (git('status', '--porcelain') !== '') fail('The working tree has changes. Commit them, or put them away.');
if (git('tag', '--list', `v${to}`) !== '') fail(`v${to} is released already.`);

const tag = lastTag();
const before = readFileSync(CHANGELOG, 'utf8');
const after = withVersion(before, to, new Date().toISOString().slice(0, 10), subjectsSince(tag));
if (values.write) {
  try {
    release(from, to, after);
  } catch (error) {
    // The tree was clean, so nothing else gets lost.
    git('reset', '--quiet');
    git('checkout', '--', '.');
    rmSync(join('releases', fileOf(to)), { force: true });
    fail(`${(error as Error).message} Nothing was released.`);
  }
  console.log(`Released ${to}. To publish it, push the commit and v${to}, deploy, and run:`);
  console.log(`npm publish releases/${fileOf(to)}`);
} else {
  run('npm', 'run', 'check:client');
  console.log(`${from} → ${to}, since ${tag ?? 'the first commit'}. With --write, ${CHANGELOG} has:\n`);
  const isWritten = after === before;
  const section = after.split(/^(?=## )/m).find((text) => text.startsWith(`## ${to}`)) ?? '';
  console.log(isWritten ? `(its section ${to} as it is written)` : section.trim());
}
