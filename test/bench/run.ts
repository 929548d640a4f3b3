// `npm run bench`: verify against the platform's floor and against D1, at a thousand licenses and at a million.
// With `--soak`: mixed load for ten minutes, after which everything that was acknowledged has to be there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench } from './bench.ts';
import { startLoad } from './load/load.ts';
import { readOptions } from './options.ts';
import { silenceWorkerd, stopAll } from './runtime.ts';
import { soak } from './soak.ts';

// Wrangler would say where it read which secrets; these are replaced anyway.
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
    for (const wrong of load.wrong()) console.error(`✗ wrong answers: ${wrong}`);
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
