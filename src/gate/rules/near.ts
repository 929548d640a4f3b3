import type { Terms } from '../../shared/rules/terms.ts';
import { type ApplicationVerdict, isGood, type Judged, judgeLicense } from './application-verdict.ts';
import { planSeat } from './seat-plan.ts';
import { isHeld, type Activation } from './seats.ts';
import type { Verdict } from './verdict.ts';
import type { ApplicationRequest } from './calls.ts';
import type { CopiedLicense } from './rows.ts';

// Which verifies a branch answers from copies of home's activations. Only home takes, releases and renews seats.

/** A copy's name. Neither license keys nor fingerprints have spaces. */
export const seatRef = (licenseKey: string, fingerprint: string) => `${licenseKey} ${fingerprint}`;

/**
 * Whether a branch may have a copy of the machine's activation: only if the seat is held until it is released. A seat with a
 * lease ends by home's clock alone, and no clock is compared across machines.
 */
export const isCopied = (
  { leaseSeconds }: Terms,
  activation: Activation | null,
  nowMs: number,
): activation is Activation =>
  leaseSeconds === null &&
  activation !== null &&
  activation.seat.leaseUntilMs === null &&
  isHeld(activation.seat, nowMs);

/** Whether a verify without a fingerprint says nothing about seats. */
export const hasNoSeats = ({ maxActivations }: Terms, fingerprint: string | undefined): boolean =>
  maxActivations === null && !fingerprint;

/** The same as far as the answer to a verify shows it, for calls that are a reason to open a branch. */
export const isNear = ({ seats, activation }: ApplicationVerdict, fingerprint: string | undefined): boolean =>
  activation === null ? seats === null && !fingerprint : activation.leaseUntilMs === null;

interface Known {
  license: CopiedLicense;
  verdict: Verdict;
  terms: Terms;
  request: ApplicationRequest;
  /** The machine's activation, or null if the branch has no copy of it. */
  activation: Activation | null;
  /** How many seats are used, or null if the branch doesn't know. */
  used: number | null;
}

/** `isSeen` is set if home has to note that the machine was seen. */
type Near = Judged & { isSeen: boolean };

/** Judges a verify as home does, or returns null if home has to answer, because the call may change a seat. */
export const judgeNear = (
  { license, verdict, terms, request, activation, used }: Known,
  nowMs: number,
): Near | null => {
  const code = judgeLicense(license, verdict, request);
  const { maxActivations } = terms;
  if (hasNoSeats(terms, request.fingerprint)) return { code, activation: null, seats: null, isSeen: false };
  if (!isCopied(terms, activation, nowMs) || (maxActivations !== null && used === null)) return null;
  const seats = maxActivations === null ? null : { used: used ?? 0, limit: maxActivations };
  if (!isGood(code)) return { code, activation, seats, isSeen: false };
  const call = {
    call: 'verify',
    terms,
    request,
    known: activation,
    count: () => ({ used: used ?? 0, recent: 0 }),
    replaces: false,
  } as const;
  const { decision, isOtherMachine } = planSeat(call, nowMs);
  const { seat, takes } = decision;
  const isSame =
    !seat ||
    (seat.leaseUntilMs === activation.seat.leaseUntilMs &&
      seat.releasedAtMs === activation.seat.releasedAtMs);
  if (decision.code !== 'valid' || takes || isOtherMachine || !isSame) return null;
  return { code, activation, seats, isSeen: seat !== null };
};
