// Watches the memory of a runtime's process, with samples in MiB after a collection in each of its isolates.
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '../../bench/runtime.ts';
import { collectGarbage, openIsolates } from '../isolates.ts';

/** A collection stops the isolates for a moment. */
const SAMPLE_EVERY_MS = 3_000;

/** Returns how to end the watch. That returns by how much the largest sample exceeds the first one. */
export const watchGrowth = async ({ miniflare, rssBytes }: Runtime) => {
  const isolates = await openIsolates((await miniflare.getInspectorURL()).host);
  const sample = async (): Promise<number> => {
    await collectGarbage(isolates);
    return rssBytes() / 2 ** 20;
  };
  const first = await sample();
  const stop = new AbortController();
  const watch = async () => {
    let most = first;
    while (!stop.signal.aborted) {
      await delay(SAMPLE_EVERY_MS);
      most = Math.max(most, await sample());
    }
    return most - first;
  };
  const growth = watch();
  return async (): Promise<number> => {
    stop.abort();
    const growthMiB = await growth;
    for (const { close } of isolates) close();
    return growthMiB;
  };
};
