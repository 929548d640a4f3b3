// Creates and verifies without end, whatever happens to the service, and a record of what it acknowledged.
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../e2e/support/service.ts';
import { createLicense, type Customer, verify } from './customer.ts';

/** The plan `free` lets a key make 10 calls a second. */
const VERIFY_EVERY_MS = 110;
const CREATE_EVERY_MS = 200;
/** While the service is away. */
const WAIT_MS = 50;

export interface Acknowledged {
  created: string[];
  /** How many verifies of a license were answered with `valid: true`. */
  verified: Map<string, number>;
  refused: number;
}

interface Reach {
  /** Null while it is away. */
  service: () => Service | null;
  goesOn: () => boolean;
}

const again = async ({ service, goesOn }: Reach, everyMs: number, call: (to: Service) => Promise<void>) => {
  while (goesOn()) {
    const to = service();
    try {
      if (to) await Promise.all([call(to), delay(everyMs)]);
      else await delay(WAIT_MS);
    } catch {
      // Killed before it had answered: whatever it did, it acknowledged nothing.
      await delay(WAIT_MS);
    }
  }
};

/** Ends when `goesOn` says so; two verifies are under way at a time. */
export const load = async (customer: Customer, told: Acknowledged, reach: Reach): Promise<void> => {
  const create = async (to: Service) => {
    const licenseKey = await createLicense(to, customer);
    if (licenseKey) told.created.push(licenseKey);
    else told.refused++;
  };
  const verifyOne = async (to: Service) => {
    const licenseKey = told.created[Math.floor(Math.random() * told.created.length)];
    if (!licenseKey) return;
    if (await verify(to, customer, licenseKey)) {
      told.verified.set(licenseKey, (told.verified.get(licenseKey) ?? 0) + 1);
    } else told.refused++;
  };
  await Promise.all([
    again(reach, CREATE_EVERY_MS, create),
    again(reach, 2 * VERIFY_EVERY_MS, verifyOne),
    again(reach, 2 * VERIFY_EVERY_MS, verifyOne),
  ]);
};
