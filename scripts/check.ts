// `npm run check`: everything that can be known without running the service.
import { spawnSync } from 'node:child_process';

const STEPS: [what: string, command: string, ...args: string[]][] = [
  [
    'types of the Worker’s bindings are up to date',
    'wrangler',
    'types',
    'src/env.d.ts',
    '--strict-vars=false',
    '--check',
  ],
  ['format', 'oxfmt', '--check'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['types', 'tsc', '-b', 'src/web'],
  ['migrations match the schema and drop nothing unreviewed', 'node', 'scripts/check-migrations.ts'],
  ['links in Markdown files lead somewhere', 'node', 'scripts/check-links.ts'],
  ['bundle', 'wrangler', 'deploy', '--dry-run', '--outdir', 'dist/worker'],
  ['the dashboard’s first script is small', 'node', 'scripts/check-web-size.ts'],
];

for (const [what, command, ...args] of STEPS) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' },
  });
  const output = `${stdout}${stderr}`;
  if (status !== 0) {
    console.error(`✗ ${what}\n${output}`);
    process.exit(1);
  }
  const size = /Total Upload: .*|Initial script: .*/.exec(output)?.[0];
  console.log(`✓ ${what}${size ? ` (${size})` : ''}`);
}
