// `npm run check`: the checks that don't run the service.
import { spawnSync } from 'node:child_process';

const STEPS: [title: string, command: string, ...args: string[]][] = [
  ['binding types are up to date', 'npm', 'run', 'binding-types', '--', '--check'],
  ['API types', 'npm', 'run', 'api-types'],
  ['format', 'oxfmt', '--check'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['imports follow the layers', 'node', 'scripts/check-layers.ts'],
  ['exported types have names of their own', 'node', 'scripts/check-names.ts'],
  ['no unused files or exports', 'knip', '--no-progress'],
  ['types', 'tsc', '-b', 'src/web', 'examples'],
  [
    'migrations match the schema, none drops a table without review, and all have a safe form',
    'node',
    'scripts/check-migrations.ts',
  ],
  ['links in Markdown files are valid', 'node', 'scripts/check-links.ts'],
  ['bundle', 'wrangler', 'deploy', '--dry-run', '--outdir', 'dist/worker'],
  ['size of the dashboard’s initial script', 'node', 'scripts/check-web-size.ts'],
  ['size, types, and exports of the client package', 'node', 'scripts/check-client.ts'],
];

for (const [title, command, ...args] of STEPS) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
  });
  // A command that isn't installed can't start.
  const output = error ? `${error.message}: run npm ci.` : `${stdout}${stderr}`;
  if (status !== 0) {
    console.error(`✗ ${title}\n${output}`);
    process.exit(1);
  }
  const size = /Total Upload: .*|Initial script: .*|Client: .*/.exec(output)?.[0];
  console.log(`✓ ${title}${size ? ` (${size})` : ''}`);
}
