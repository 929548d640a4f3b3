// `npm run check`: the checks that don't run the service.
import { spawn } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';

type Step = [title: string, command: string, ...args: string[]];

/** Write what the other steps read. */
const FIRST: Step[] = [
  ['API types', 'npm', 'run', 'api-types'],
  ['assets and client package', 'npm', 'run', 'build'],
];

/** Lanes run at the same time, because most steps use one core. The steps of a lane follow one another. */
const LANES: Step[][] = [
  [
    ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
    ['types', 'tsc', '-b', 'src/web', 'examples'],
    ['size, types, and exports of the client package', 'node', 'scripts/check-client.ts'],
  ],
  [
    ['binding types are up to date', 'npm', 'run', 'binding-types', '--', '--check'],
    ['format', 'oxfmt', '--check'],
    ['no file has more lines than it may', 'node', 'scripts/check-lengths.ts'],
    ['imports follow the layers', 'node', 'scripts/check-layers.ts'],
    ['exported types have names of their own', 'node', 'scripts/check-names.ts'],
    ['the dashboard keeps to its words', 'node', 'scripts/check-words.ts'],
    ['tests wait for what a page shows', 'node', 'scripts/check-page-reads.ts'],
    ['no unused files or exports', 'knip', '--no-progress'],
    [
      'migrations match the schema, none drops a table without review, and all have a safe form',
      'node',
      'scripts/check-migrations.ts',
    ],
    ['conformance files are up to date', 'node', 'test/conformance/generate.ts', '--check'],
    ['what it costs follows from the benchmarks', 'node', 'test/bench/costs-table.ts', '--check'],
    ['the OpenAPI document keeps Redocly’s rules', 'node', 'scripts/check-openapi.ts'],
    ['links in Markdown files are valid', 'node', 'scripts/check-links.ts'],
    ['bundle', 'wrangler', 'deploy', '--dry-run', '--outdir', 'dist/worker'],
    ['size of the dashboard’s initial script', 'node', 'scripts/check-web-size.ts'],
  ],
];

const env = { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' };

const run = async ([title, command, ...args]: Step) => {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | Error | null>((resolve) => {
    child.on('close', resolve).on('error', resolve);
  });
  const printed = await Promise.all([readText(child.stdout), readText(child.stderr)]);
  const status = await ended;
  // A command that isn't installed can't start.
  const output = status instanceof Error ? `${status.message}: run npm ci.` : printed.join('');
  if (status !== 0) {
    console.error(`✗ ${title}\n${output}`);
    process.exit(1);
  }
  const size = /Total Upload: .*|Initial script: .*|Client: .*/.exec(output)?.[0];
  console.log(`✓ ${title}${size ? ` (${size})` : ''}`);
};

const runLane = async (steps: Step[]) => {
  for (const step of steps) await run(step);
};

await runLane(FIRST);
await Promise.all(LANES.map(runLane));
