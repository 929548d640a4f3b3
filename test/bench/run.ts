// `npm run bench`: compares verify with the floor of the platform and with D1, at 1,000 and at 1,000,000 licenses.
// With `--soak`: runs mixed load for ten minutes and then checks that every acknowledged call is stored.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench } from './bench.ts';
import { startLoad } from './load/load.ts';
import { readOptions } from './options.ts';
import { silenceWorkerd, stopAll } from './runtime.ts';
import { soak } from './soak.ts';

// Wrangler would print where it reads secrets, and the benchmark replaces them anyway.
process.env['WRANGLER_LOG'] = 'none';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const options = readOptions(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
silenceWorkerd(folder);

const runBench = async (): Promise<boolean> => {
  const load = startLoad();
  try {
    await bench(folder, load, options);
    for (const wrong of load.wrong()) console.error(`✗ unexpected responses: ${wrong}`);
    return load.wrong().length === 0;
  } finally {
    await load.stop();
  }
};

let passed = false;
try {
  passed = options.soak ? await soak(folder, options) : await runBench();
} finally {
  await stopAll();
}
process.exit(passed ? 0 : 1);
