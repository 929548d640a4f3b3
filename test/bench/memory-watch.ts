// Whether a runtime's memory comes to a rest: looked at after collections of garbage, so that what is seen is held.
import { setTimeout as delay } from 'node:timers/promises';
import { openInspector } from './inspector.ts';
import { median } from './rounds.ts';
import type { Runtime } from './runtime.ts';

const LOOKS = 30;
/** Caches fill up in the first third; the second is compared with the last. */
const THIRD = LOOKS / 3;
/** Between medians: the process alone goes up and down by more than that with what its allocator keeps. */
const MAX_GROWTH_BYTES = { heap: 4 * 2 ** 20, process: 32 * 2 ** 20 };

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

const judge = (what: keyof typeof MAX_GROWTH_BYTES, samples: number[]) => {
  const before = median(samples.slice(THIRD, 2 * THIRD));
  const after = median(samples.slice(-THIRD));
  const most = MAX_GROWTH_BYTES[what];
  const isBounded = after - before <= most;
  const line =
    `${isBounded ? '✓' : '✗'} memory of the ${what.padEnd(8)} ${mib(samples[0] ?? Number.NaN)} at first, ` +
    `${mib(before)} in the second third, ${mib(after)} in the last, which may be ${mib(most)} more`;
  return { isBounded, line };
};

/** Looks as often as it takes to be done after so long. The runtime has to have its inspector on. */
export const watchMemory = async (runtime: Runtime, durationMs: number) => {
  const inspector = await openInspector(runtime);
  const samples = { heap: [] as number[], process: [] as number[] };
  const beganMs = performance.now();
  for (let look = 1; look <= LOOKS; look++) {
    await delay(Math.max(0, beganMs + (durationMs * look) / LOOKS - performance.now()));
    samples.heap.push(await inspector.heapBytes());
    samples.process.push(runtime.rssBytes());
  }
  inspector.close();
  const judged = [judge('heap', samples.heap), judge('process', samples.process)];
  return {
    isBounded: judged.every(({ isBounded }) => isBounded),
    lines: judged.map(({ line }) => line),
    samples,
  };
};
