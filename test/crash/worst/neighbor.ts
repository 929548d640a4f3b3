// An account beside the attackers', whose calls are timed.
import { setTimeout as delay } from 'node:timers/promises';
import { openAccount } from '../../bench/accounts.ts';
import { valueAt } from '../../bench/load/plan.ts';
import type { Running } from '../../bench/service.ts';
import { createLicense, verify } from '../customer.ts';

/** The delay between two verifies. A create comes after so many of them. */
const PAUSE_MS = 20;
const VERIFIES_BEFORE_CREATE = 10;

/** How long each call took. A create asks D1, and a verify doesn't. */
export interface Samples {
  verify: number[];
  create: number[];
}

const timed = async (samples: number[], call: () => Promise<unknown>) => {
  const startMs = performance.now();
  if (!(await call())) throw new Error('A call of the neighbor was refused.');
  samples.push(performance.now() - startMs);
};

export interface Neighbor {
  /** Calls until it is over. */
  sample: (samples: Samples, isOver: () => boolean) => Promise<void>;
}

export const openNeighbor = async (service: Running, email: string, creates: boolean): Promise<Neighbor> => {
  const { apiKeys, ...account } = await openAccount(service, email, 1);
  const neighbor = { ...account, apiKey: { 'x-api-key': valueAt(apiKeys, 0) } };
  const licenseKey = await createLicense(service, neighbor);
  if (licenseKey === null) throw new Error('The license could not be created.');
  return {
    sample: async (samples, isOver) => {
      for (let index = 1; !isOver(); index++) {
        await timed(samples.verify, () => verify(service, neighbor, licenseKey));
        if (creates && index % VERIFIES_BEFORE_CREATE === 0)
          await timed(samples.create, () => createLicense(service, neighbor));
        await delay(PAUSE_MS);
      }
    },
  };
};
