// `npm run test:worst`: plays the worst free account for a minute, beside a neighbor whose verifies are timed. Shows how far
// D1 grew, what the neighbor felt, and how much memory the runtime took, and fails beyond the bounds.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkOut, cleanUp, type Service, startService } from '../e2e/support/service.ts';
import { type Attack, openAttacks } from './attacks.ts';
import { addKey, createLicense, signUp, verify } from './customer.ts';
import { quantile, summarize } from './latencies.ts';
import { watchMemory } from './workerd-memory.ts';

const ACCOUNT_SECONDS = 60;
const STRANGERS_SECONDS = 15;
/** Delay between two calls of the same attack. */
const PAUSE_MS = 50;
/** Delay between two sampled calls of the neighbor, which is allowed ten a second, and 1,000 in all. */
const SAMPLE_PAUSE_MS = 110;
const IDLE_SAMPLES = 200;
const MAX_RATIO = 1.5;
/** An unverified account on the plan `free` may store a tenth of 100 MB. Indexes and free pages come on top. */
const MAX_D1_GROWTH_MIB = 20;
const MAX_MEMORY_GROWTH_MIB = 128;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const folder = await checkOut();

const d1MiB = (): number => {
  const state = join(folder, '.wrangler/state/v3/d1');
  const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  return bytes / 1024 / 1024;
};

/** Makes the calls of an attack one after the other, and counts the responses by status. */
const repeat = async ({ name, call }: Attack, isOver: () => boolean) => {
  const counts: Record<string, number> = {};
  while (!isOver()) {
    const outcome = await call().catch(() => 'cut off');
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    await delay(PAUSE_MS);
  }
  return { name, counts };
};

const run = async (service: Service): Promise<boolean> => {
  using memory = await watchMemory(folder);
  const neighbor = await addKey(service, await signUp(service, 'neighbor@example.com'));
  const licenseKey = await createLicense(service, neighbor);
  if (!licenseKey) throw new Error('The license could not be created.');

  const sample = async (shouldContinue: (count: number) => boolean) => {
    const samples: number[] = [];
    while (shouldContinue(samples.length)) {
      const startMs = performance.now();
      if (!(await verify(service, neighbor, licenseKey)))
        throw new Error('The neighbor’s verify was rejected.');
      samples.push(performance.now() - startMs);
      await delay(SAMPLE_PAUSE_MS);
    }
    return samples;
  };

  const { account, strangers } = await openAttacks(service);
  const idle = await sample((count) => count < IDLE_SAMPLES);
  console.log(`idle          ${summarize(idle)}`);
  const [memoryBefore, d1Before] = [memory.samplesMiB.at(-1) ?? 0, d1MiB()];
  const samplesBefore = memory.samplesMiB.length;

  /** Returns how much slower the neighbor's verifies are during the attacks. */
  const attack = async (attacks: Attack[], seconds: number): Promise<number> => {
    const endMs = Date.now() + seconds * 1_000;
    const isOver = () => Date.now() > endMs;
    const [busy, ...outcomes] = await Promise.all([
      sample(() => !isOver()),
      ...attacks.map((each) => repeat(each, isOver)),
    ]);
    for (const { name, counts } of outcomes) {
      const told = Object.entries(counts).map(([outcome, count]) => `${count} × ${outcome}`);
      console.log(`  ${name.padEnd(38)} ${told.join(', ')}`);
    }
    const ratio = quantile(busy, 0.95) / quantile(idle, 0.95);
    console.log(`attacked      ${summarize(busy)}, p95 ${ratio.toFixed(2)} × idle`);
    return ratio;
  };

  console.log('By the account:');
  const ratio = await attack(account, ACCOUNT_SECONDS);
  console.log('By strangers, from many addresses:');
  await attack(strangers, STRANGERS_SECONDS);

  const d1Growth = d1MiB() - d1Before;
  const memoryGrowth = Math.max(...memory.samplesMiB.slice(samplesBefore), memoryBefore) - memoryBefore;
  console.log(`p95           ${ratio.toFixed(2)} × idle beside the account, at most ${MAX_RATIO}`);
  console.log(`D1            ${d1Growth.toFixed(1)} MiB more, at most ${MAX_D1_GROWTH_MIB}`);
  console.log(`memory        ${memoryGrowth} MiB more, at most ${MAX_MEMORY_GROWTH_MIB}`);
  return ratio <= MAX_RATIO && d1Growth <= MAX_D1_GROWTH_MIB && memoryGrowth <= MAX_MEMORY_GROWTH_MIB;
};

let passed = false;
try {
  passed = await run(await startService(folder));
} finally {
  await cleanUp();
}
process.exit(passed ? 0 : 1);
