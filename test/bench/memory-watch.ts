// Checks that the memory of a runtime is bounded, with samples that are taken after a garbage collection in all isolates.
import { setTimeout as delay } from 'node:timers/promises';
import { openInspector } from './inspector.ts';
import { median } from './rounds.ts';
import type { Runtime } from './runtime.ts';

const SAMPLES = 30;
/** Caches fill in the first third. The second third is compared with the last one. */
const THIRD = SAMPLES / 3;
/** Limits for the growth between medians. The process varies more, because its allocator keeps free memory. */
const MAX_GROWTH_BYTES = { heap: 4 * 2 ** 20, process: 12 * 2 ** 20 };

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

const judge = (what: keyof typeof MAX_GROWTH_BYTES, samples: number[]) => {
  const before = median(samples.slice(THIRD, 2 * THIRD));
  const after = median(samples.slice(-THIRD));
  const most = MAX_GROWTH_BYTES[what];
  const isBounded = after - before <= most;
  const line =
    `${isBounded ? '✓' : '✗'} memory of the ${what.padEnd(8)} ${mib(samples[0] ?? Number.NaN)} at the start, ` +
    `${mib(before)} in the second third, ${mib(after)} in the last third, limit ${mib(most)} more`;
  return { isBounded, line };
};

/** Takes samples over `durationMs`. The runtime must have an inspector. */
export const watchMemory = async (runtime: Runtime, durationMs: number) => {
  const inspector = await openInspector(runtime);
  const samples = { heap: [] as number[], process: [] as number[] };
  const startMs = performance.now();
  for (let sample = 1; sample <= SAMPLES; sample++) {
    await delay(Math.max(0, startMs + (durationMs * sample) / SAMPLES - performance.now()));
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
