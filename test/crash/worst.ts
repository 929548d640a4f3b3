// `npm run test:worst`: plays the worst free account for a minute, then strangers, and then a flood of forged bodies, beside a
// neighbor whose calls are timed. Fails if its verifies wait too long, or D1 or the memory of the attacked runtime grows too much.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silenceWorkerd, stopAll } from '../bench/runtime.ts';
import { measureAlone } from './worst/alone.ts';
import { measureBeside } from './worst/beside.ts';
import { watchGrowth } from './worst/memory.ts';
import { openNeighbor } from './worst/neighbor.ts';
import { startAttackers, startWorld } from './worst/runtimes.ts';

const MAX_RATIO = 1.5;
/** An unverified account on the plan `free` may store a tenth of 100 MB. Indexes and free pages come on top. */
const MAX_D1_GROWTH_MIB = 20;
const MAX_MEMORY_GROWTH_MIB = 128;

process.env['WRANGLER_LOG'] = 'none';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const openFolder = (under: string) => {
  const folder = mkdtempSync(join(under, 'latchkey-worst-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
};

const onDisk = openFolder(tmpdir());
const inMemory = openFolder(existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
silenceWorkerd(onDisk);

const run = async (): Promise<boolean> => {
  const world = await startWorld({ theirs: inMemory, ours: onDisk });
  const elsewhere = await openNeighbor(world.elsewhere, 'neighbor@example.com', true);
  const attackers = await startAttackers(world, 'worst@example.com');
  const endWatch = await watchGrowth(world.attacked.runtime);
  const d1Before = world.databaseMiB();

  console.log('By the account:');
  const besideAccount = await measureBeside(world, attackers, elsewhere, 'account');
  const d1Growth = world.databaseMiB() - d1Before;
  console.log('By strangers, from many addresses:');
  const besideStrangers = await measureBeside(world, attackers, elsewhere, 'strangers');
  console.log('By strangers who forge what a store sends:');
  const besideForgers = await measureBeside(world, attackers, elsewhere, 'forgers');
  const memoryGrowth = await endWatch();
  attackers.stop();

  const others = await startAttackers(world, 'alone@example.com');
  const inSameThread = await openNeighbor(world.attacked, 'roommate@example.com', false);
  await measureAlone(world, others, inSameThread);
  others.stop();

  console.log(`p95           ${besideAccount.toFixed(2)} × idle beside the account, at most ${MAX_RATIO}`);
  console.log(`p95           ${besideStrangers.toFixed(2)} × idle beside strangers, at most ${MAX_RATIO}`);
  console.log(`p95           ${besideForgers.toFixed(2)} × idle beside forgers, at most ${MAX_RATIO}`);
  console.log(`D1            ${d1Growth.toFixed(1)} MiB more, at most ${MAX_D1_GROWTH_MIB}`);
  console.log(`memory        ${memoryGrowth.toFixed(0)} MiB more, at most ${MAX_MEMORY_GROWTH_MIB}`);
  return (
    Math.max(besideAccount, besideStrangers, besideForgers) <= MAX_RATIO &&
    d1Growth <= MAX_D1_GROWTH_MIB &&
    memoryGrowth <= MAX_MEMORY_GROWTH_MIB
  );
};

let passed = false;
try {
  passed = await run();
} finally {
  await stopAll();
}
process.exit(passed ? 0 : 1);
