import type { Terms } from '../../shared/rules/terms.ts';
import type { Verdict } from '../../shared/rules/verdict.ts';
import { isHeld, type Machine } from './seats.ts';

// Which verifies a branch answers from copies of home's machines. Only home takes, releases and renews seats.

/** A copy's name. Neither license keys nor fingerprints have spaces. */
export const seatRef = (licenseKey: string, fingerprint: string) => `${licenseKey} ${fingerprint}`;

/**
 * Whether a branch may have a copy of the machine: only if its seat is held until it is released. A seat with a lease ends by
 * home's clock alone, and no clock is compared across machines.
 */
export const isCopied = (
  { leaseSeconds }: Terms,
  machine: Machine | null,
  nowMs: number,
): machine is Machine =>
  leaseSeconds === null &&
  machine !== null &&
  machine.seat.leaseUntilMs === null &&
  isHeld(machine.seat, nowMs);

/** Whether a verify without a fingerprint says nothing about seats. */
export const hasNoSeats = ({ maxActivations }: Terms, fingerprint: string | undefined): boolean =>
  maxActivations === null && !fingerprint;

/** The same as far as the verdict shows it, for calls that are a reason to open a branch. */
export const isNear = ({ seats, activation }: Verdict, fingerprint: string | undefined): boolean =>
  activation === null ? seats === null && !fingerprint : activation.lease_until === null;
