// Measures the memory of the runtime while every license of the big account is verified once.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expectOk } from '../crash/customer.ts';
import { openInspector } from './inspector.ts';
import type { Load } from './load/load.ts';
import type { Values } from './load/plan.ts';
import { planOf } from './rounds.ts';
import { untilIdle } from './runtime.ts';
import type { Grown } from './seed.ts';
import type { Place, Running } from './service.ts';
import { verifyTarget } from './targets.ts';

const STEPS = 10;
const CONNECTIONS = 64;
/** Limit for the growth of the heap while the second half of the licenses is verified. */
export const MAX_GROWTH_BYTES = 8 * 2 ** 20;

export interface MemoryFigures {
  licenses: number;
  callsPerSecond: number;
  /** Process memory, and heap after a garbage collection: at the start, and after each tenth. */
  rssBytes: number[];
  heapBytes: number[];
  growthBytes: number;
  diskBytes: number;
}

/** Returns the size of the gate's database, including its journal. */
const gateBytes = ({ name, folder }: Place): number => {
  const gates = join(folder, 'data/do', `${name}-AccountGate`);
  return readdirSync(gates)
    .filter((file) => file.includes('.sqlite') && !file.startsWith('metadata'))
    .reduce((sum, file) => sum + statSync(join(gates, file)).size, 0);
};

/** Deletes the webhooks, because a million pending deliveries would take up space in the outbox. */
const unsubscribe = async (service: Running, { session }: Grown) => {
  const { data } = expectOk(await service.get('/api/webhooks', session)) as { data: { id: string }[] };
  for (const { id } of data) {
    await fetch(`${service.origin}/api/webhooks/${id}`, { method: 'DELETE', headers: session });
  }
};

const subset = ({ width, bytes }: Values, from: number, to: number): Values => ({
  width,
  count: to - from,
  bytes: bytes.subarray(from * width, to * width),
});

/** Takes a service that was started with an inspector. */
export const measureMemory = async (
  load: Load,
  service: Running,
  place: Place,
  account: Grown,
): Promise<MemoryFigures> => {
  const { runtime } = service;
  await unsubscribe(service, account);
  const inspector = await openInspector(runtime);
  const rssBytes: number[] = [];
  const heapBytes: number[] = [];
  const takeSample = async () => {
    await untilIdle([runtime]);
    heapBytes.push(await inspector.heapBytes());
    rssBytes.push(runtime.rssBytes());
  };
  await takeSample();
  const { count } = account.licenses;
  let seconds = 0;
  for (let step = 0; step < STEPS; step++) {
    const from = Math.floor((count * step) / STEPS);
    const licenses = subset(account.licenses, from, Math.floor((count * (step + 1)) / STEPS));
    const target = verifyTarget('all', runtime, { ...account, licenses });
    for (const place of target.request.places) {
      if (place.values === licenses) place.draw = 'in turn';
    }
    const slice = { connections: CONNECTIONS, calls: licenses.count, durationMs: Infinity };
    const { callsPerSecond, calls } = await load.run(planOf(target, slice));
    seconds += calls / callsPerSecond;
    await takeSample();
  }
  inspector.close();
  return {
    licenses: count,
    callsPerSecond: count / seconds,
    rssBytes,
    heapBytes,
    growthBytes: (heapBytes.at(-1) ?? Number.NaN) - (heapBytes[STEPS / 2] ?? Number.NaN),
    diskBytes: gateBytes(place),
  };
};
