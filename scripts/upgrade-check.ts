// `npm run upgrade-check`: says what an update of the code would change about the service, before it does. See docs/deploying.md.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareReleases, type Release, versionOf } from './deploy/upgrade.ts';

const FILES = {
  configuration: 'wrangler.toml',
  manifest: 'package.json',
  changelog: 'CHANGELOG.md',
  copyTables: 'src/gate/home/copy-tables.ts',
};

const git = (...args: string[]): string | null => {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  return status === 0 ? stdout.trim() : null;
};

const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

const readRelease = (commit: string): Release => {
  const read = (file: string) => git('show', `${commit}:${file}`) ?? '';
  const names = git('ls-tree', '--name-only', commit, 'drizzle/') ?? '';
  return {
    configuration: read(FILES.configuration),
    manifest: read(FILES.manifest) || '{}',
    changelog: read(FILES.changelog),
    copyTables: read(FILES.copyTables),
    migrations: names
      .split('\n')
      .filter((name) => name.endsWith('.sql'))
      .map((name) => name.replace('drizzle/', '')),
  };
};

/** The variables that the operator has set for an environment. */
const ownVariables = (environment: string): string[] => {
  const file = `deploy.${environment}.json`;
  if (!existsSync(file)) return [];
  return Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { vars?: object }).vars ?? {});
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    env: { type: 'string', default: 'production' },
    /** What runs now: this checkout, unless it was updated without a deployment. */
    from: { type: 'string', default: 'HEAD' },
  },
});
const [to = '@{upstream}'] = positionals;
const commitOf = (name: string) =>
  git('rev-parse', '--verify', '--quiet', `${name}^{commit}`) ??
  fail(
    `Git doesn’t know ${name}. Run \`git fetch --tags\`, and name the release, as in \`npm run upgrade-check -- v1.1.0\`.`,
  );

const [before, after] = [commitOf(values.from), commitOf(to)].map((commit) => ({
  commit,
  release: readRelease(commit),
})) as [{ commit: string; release: Release }, { commit: string; release: Release }];

const nameOf = ({ commit, release }: typeof before) => `${versionOf(release)} (${commit.slice(0, 8)})`;
console.log(`From ${nameOf(before)} to ${nameOf(after)}:`);
const findings = compareReleases(before.release, after.release, ownVariables(values.env));
if (findings.length === 0) console.log('Only code changes.');
for (const { title, lines } of findings)
  console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
console.log(
  '\nNothing was changed. `npm run deploy -- --dry-run` says what a deployment of this checkout would do.',
);
