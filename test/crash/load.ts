// Creates and verifies licenses and activates machines, through restarts of the service, and records what the service
// acknowledged.
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../e2e/support/service.ts';
import { type CallCounts, createLicense, type Customer } from './customer.ts';
import { CALLERS, HOME, verifyFrom } from './regions.ts';
import { seatCall, type SeatRecord } from './seats.ts';

const VERIFY_EVERY_MS = 110;
const CREATE_EVERY_MS = 200;
/** With the verifies, keeps to the usage limit. */
const SEAT_CALL_EVERY_MS = 800;
/** Delay before the next call while the service is down. */
const DOWN_DELAY_MS = 50;

export interface Acknowledged {
  created: string[];
  /** The number of verify calls per license key that answered `valid: true`. */
  verified: Map<string, number>;
  /** The calls that count toward the usage. */
  counts: CallCounts;
  /** The number of verify calls that a branch has answered. */
  inBranches: number;
  seats: SeatRecord;
  rejected: number;
}

interface Target {
  /** Returns null while the service is down. */
  service: () => Service | null;
  isRunning: () => boolean;
}

const repeat = async (
  { service, isRunning }: Target,
  everyMs: number,
  call: (to: Service) => Promise<void>,
) => {
  while (isRunning()) {
    const to = service();
    try {
      if (to) await Promise.all([call(to), delay(everyMs)]);
      else await delay(DOWN_DELAY_MS);
    } catch {
      // The service was killed before it responded, so it acknowledged nothing.
      await delay(DOWN_DELAY_MS);
    }
  }
};

/** Runs until `isRunning` returns false, with two verifies from any region and two calls for a seat at a time. */
export const load = async (customer: Customer, acknowledged: Acknowledged, target: Target): Promise<void> => {
  const create = async (to: Service) => {
    const licenseKey = await createLicense(to, customer);
    if (licenseKey) acknowledged.created.push(licenseKey);
    else acknowledged.rejected++;
  };
  const verifyOne = async (to: Service) => {
    // Older licenses more often, so that branches have them.
    const licenseKey = acknowledged.created[Math.floor(Math.random() ** 3 * acknowledged.created.length)];
    if (!licenseKey) return;
    const region = CALLERS[Math.floor(Math.random() * CALLERS.length)] ?? HOME;
    const { valid, answeredIn } = await verifyFrom(to, customer, licenseKey, region, acknowledged.counts);
    if (answeredIn !== null && answeredIn !== HOME) acknowledged.inBranches++;
    if (valid) {
      acknowledged.verified.set(licenseKey, (acknowledged.verified.get(licenseKey) ?? 0) + 1);
    } else acknowledged.rejected++;
  };
  await Promise.all([
    repeat(target, CREATE_EVERY_MS, create),
    repeat(target, 2 * VERIFY_EVERY_MS, verifyOne),
    repeat(target, 2 * VERIFY_EVERY_MS, verifyOne),
    repeat(target, SEAT_CALL_EVERY_MS, seatCall(acknowledged.seats, acknowledged.counts, 0)),
    repeat(target, SEAT_CALL_EVERY_MS, seatCall(acknowledged.seats, acknowledged.counts, 1)),
  ]);
};
