// Reads the JavaScript heap of a Worker that was started with an inspector.
import { setTimeout as delay } from 'node:timers/promises';
import { collectGarbage, openIsolates } from '../crash/isolates.ts';
import type { Runtime } from './runtime.ts';

export const openInspector = async ({ miniflare, origin, name }: Runtime) => {
  const isolates = await openIsolates((await miniflare.getInspectorURL()).host);
  const service = isolates.find(({ id }) => id === `core:user:${name}`);
  if (!service) throw new Error('The inspector does not list the Worker.');
  const others = isolates.filter((isolate) => isolate !== service);
  return {
    /** Collects the garbage of all isolates and returns the heap size of the Worker. */
    heapBytes: async (): Promise<number> => {
      await collectGarbage(others);
      const collected = service.send('HeapProfiler.collectGarbage').then(() => true);
      // An idle runtime collects garbage only when the next request arrives.
      const call = async () => {
        await (await fetch(`${origin}/api/nothing-here`)).text();
        await delay(50);
        return false;
      };
      while (!(await Promise.race([collected, call()])));
      const { usedSize } = (await service.send('Runtime.getHeapUsage')) as { usedSize: number };
      return usedSize;
    },
    close: () => {
      for (const { close } of isolates) close();
    },
  };
};
