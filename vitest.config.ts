import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { parse } from 'smol-toml';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { tablesAfter } from './test/support/tables.ts';

const MIGRATIONS = await readD1Migrations('drizzle');
const CREATE_TABLES = tablesAfter(MIGRATIONS);

const SECRETS = {
  API_KEY_SECRET: 'only-for-tests-0123456789abcdefghij',
  SEALING_KEYS: 'k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
  SIGNING_KEYS: 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
};
// Wrangler also reads the required secrets from the environment, and says so unless it logs only warnings.
Object.assign(process.env, SECRETS, { WRANGLER_LOG: 'warn' });

// Node keeps here what it compiles, so that wrangler and the CLI, which many tests start, start faster.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/node');

/** Each of these files would otherwise run at the end of its group while other workers are idle. */
const SLOWEST = ['dashboard/pages', 'e2e/operator', 'e2e/local-run', 'fuzz/fuzz', 'billing/stripe-order'];

/** Starts the slowest files first. In a clean checkout, Vitest knows only how large the files are. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isSlow = ({ moduleId }: TestSpecification) =>
      Number(SLOWEST.some((name) => moduleId.endsWith(`/${name}.test.ts`)));
    const sorted = await BaseSequencer.prototype.sort.call(this, files);
    return sorted.toSorted((a, b) => isSlow(b) - isSlow(a));
  }
}

/** The source maps of these packages name files that the packages lack, and Vite warns of each. */
const withoutBrokenMaps: Plugin = {
  name: 'without-broken-maps',
  load: {
    filter: { id: /node_modules\/(?:stripe|standardwebhooks)\// },
    handler: async (id) => (await readFile(id, 'utf8')).replace(/^\/\/# sourceMappingURL=.*$/m, ''),
  },
};

/** Comes first, because it decides where the other files of a global setup have their folders. */
const IN_MEMORY = 'test/support/memory-folder.ts';
const MIGRATED = 'test/e2e/support/migrated-state.ts';

/**
 * By default, Vitest leaves one core idle, although these files mostly wait for processes, timers, and pages. Loading their
 * modules takes seconds, so the files of a worker share them.
 */
const NODE_WORKERS = { maxWorkers: 3, isolate: false, sequence: { groupOrder: 1 } };

/**
 * After this time, a test or hook counts as hanging. Both start services and run whole programs, which takes minutes on a
 * machine that is busy.
 */
const HANGING = { testTimeout: 660_000, hookTimeout: 660_000 };

/** A project that runs in the Workers runtime, with the service's configuration. */
const inWorker = (name: string, configPath: string, files: { include: string[]; exclude?: string[] }) => ({
  assetsInclude: ['**/*.gz'],
  plugins: [
    withoutBrokenMaps,
    cloudflareTest({
      wrangler: { configPath },
      miniflare: {
        // The tests' accounts are in the second database, so that a query to the wrong database fails its test.
        d1Databases: { DB2: 'second' },
        bindings: {
          DATABASES: 'DB, DB2@2020-01-01',
          MIGRATIONS,
          CREATE_TABLES,
          WEBHOOK_ALLOW_LOOPBACK: 'true',
          MAIL_FROM: 'latchkey@example.com',
          PAYMENTS: 'sandbox',
          PAYMENTS_SANDBOX_ANYWHERE: 'true',
          ...SECRETS,
        },
      },
    }),
  ],
  test: {
    name,
    // Starting the runtime and sending it the modules takes longer than most files, so files share three runtimes.
    // setup.ts gives each file new modules and empty storage.
    isolate: false,
    // With two, a fifth of two cores is idle, because a file also waits for Vitest. Groups run one after another.
    maxWorkers: 3,
    sequence: { groupOrder: 2 },
    ...files,
    setupFiles: ['test/support/setup.ts'],
    globalSetup: [
      IN_MEMORY,
      'test/fuzz/runs.ts',
      'test/support/planted-faults.ts',
      'test/support/receiver-server.ts',
      'test/support/stripe-server.ts',
    ],
    ...HANGING,
    expect: { poll: { timeout: 30_000 } },
  },
});

/**
 * The configuration without its R2 bucket. Emptying the storage of a runtime that has one doesn't end at times, so only the
 * tests of backups have it, whose one file needs no second runtime.
 */
const WITHOUT_BUCKET = 'wrangler.test.json';
const configuration = parse(readFileSync('wrangler.toml', 'utf8'));
writeFileSync(WITHOUT_BUCKET, JSON.stringify({ ...configuration, r2_buckets: [] }));

// The worker project runs in the Workers runtime with real D1 and Durable Objects. The other projects run in Node
// against the service that `npm run dev` starts.
export default defineConfig({
  test: {
    silent: 'passed-only',
    // The default would list every tenth test.
    slowTestThreshold: 10_000,
    sequence: { sequencer: SlowestFirst },
    projects: [
      inWorker('worker', WITHOUT_BUCKET, {
        include: ['test/**/*.test.ts'],
        exclude: ['test/e2e/**', 'test/client/**', 'test/simulation/**', 'test/backups/**'],
      }),
      inWorker('backups', './wrangler.toml', {
        include: ['test/backups/**/*.test.ts'],
      }),
      {
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts'],
          ...NODE_WORKERS,
          testTimeout: 3_600_000,
        },
      },
      {
        test: {
          name: 'client',
          include: ['test/client/**/*.test.ts'],
          setupFiles: ['test/client/support/new-modules.ts'],
          ...NODE_WORKERS,
          ...HANGING,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/*.test.ts'],
          globalSetup: [IN_MEMORY, MIGRATED],
          ...NODE_WORKERS,
          ...HANGING,
          expect: { poll: { timeout: 120_000 } },
        },
      },
      {
        test: {
          name: 'dashboard',
          // The tests of the client package share the service and the browser.
          include: ['test/e2e/dashboard/*.test.ts', 'test/e2e/client/*.test.ts'],
          globalSetup: [IN_MEMORY, MIGRATED, 'test/e2e/support/dashboard-server.ts'],
          setupFiles: ['test/e2e/support/setup.ts'],
          ...NODE_WORKERS,
          ...HANGING,
          expect: { poll: { timeout: 40_000 } },
        },
      },
    ],
  },
});
