import { isoDate } from '../../shared/rules/dates.ts';
import { resolveTerms, type Terms } from '../../shared/rules/terms.ts';
import { tokenEndMs } from '../../shared/rules/tokens.ts';
import type { Activations } from './activations.ts';
import {
  type ApplicationVerdict,
  isGood,
  judgeLicense,
  toApplicationVerdict,
  UNKNOWN,
} from '../rules/application-verdict.ts';
import type { Copy } from './copy.ts';
import type { Outgoing } from '../object/outgoing.ts';
import type { ApplicationRow } from '../rules/messages.ts';
import { hasNoSeats, isCopied } from '../rules/near.ts';
import { openSeatCalls } from './seat-calls.ts';
import { openSeatClock } from '../object/seat-clock.ts';
import { isHeld, isLive, type SeatCall, type Activation } from '../rules/seats.ts';
import type {
  FileRequest,
  FileVerdict,
  ImportedSeat,
  ImportedSeatResult,
  ReleaseResult,
  SeatPage,
} from '../rules/seller-types.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import { decideVerdict } from '../rules/verdict.ts';
import type { ApplicationRequest } from '../rules/calls.ts';
import type { CopiedLicense } from '../rules/rows.ts';

// Judges the calls of an application: whether its license is good, and whether its machine holds a seat.

const NO_TERMS = resolveTerms({}, {});
/** Machines that an application without a seat is told about: those that were seen longest ago. */
const MAX_MACHINES = 100;

/** Whether the machine hasn't released its seat, or a file still holds it. */
const isReleasable = ({ seat }: Activation, nowMs: number) =>
  seat.releasedAtMs === null || isLive(seat, nowMs);

interface Parts {
  ctx: DurableObjectState;
  copy: Pick<Copy, 'termsOf'>;
  activations: Activations;
  outgoing: Outgoing;
  logSeat: (license: CopiedLicense, fingerprint: string, isTaken: boolean) => void;
}

export const openApplications = ({ ctx, copy, activations, outgoing, logSeat }: Parts) => {
  const clock = openSeatClock(ctx.storage.kv);
  const seatCalls = openSeatCalls({ activations, outgoing, clock, logSeat });

  const heldBy = (license: CopiedLicense, { fingerprint }: ApplicationRequest, nowMs: number) => {
    const known = fingerprint ? activations.read(license.id, fingerprint, nowMs) : null;
    return known && isHeld(known.seat, nowMs) ? known : null;
  };

  const machinesOf = (license: CopiedLicense, nowMs: number): ApplicationVerdict['machines'] =>
    activations
      .listLongestUnseen(license.id, nowMs, MAX_MACHINES)
      .map(({ id, name, platform, seat }) => ({ id, name, platform, lastSeenAtMs: seat.lastSeenAtMs }));

  const retryAtMs = (license: CopiedLicense, { leaseSeconds }: Terms, nowMs: number): number | null =>
    leaseSeconds === null ? null : activations.nextEndMs(license.id, nowMs);

  const seatsOf = (license: CopiedLicense, { maxActivations }: Terms, nowMs: number) =>
    maxActivations === null
      ? null
      : { used: activations.count(license.id, nowMs).used, limit: maxActivations };

  const termsOf = (license: CopiedLicense) => copy.termsOf(license) ?? NO_TERMS;

  return {
    /** Whether the license can be answered with the five fields of a plain verify. */
    isPlain: (license: CopiedLicense | null): boolean => license === null || copy.termsOf(license) === null,

    /** Judges a call, and writes what it changes about the machine's seat, all or nothing. */
    judge: (
      call: SeatCall,
      license: CopiedLicense | null,
      request: ApplicationRequest,
      nowMs: number,
    ): ApplicationVerdict => {
      const verdict = decideVerdict(license, isoDate(nowMs));
      if (!license) return { ...verdict, ...UNKNOWN, licenseKey: request.licenseKey };
      const terms = termsOf(license);
      const seatMs = clock.read(nowMs);
      const judged = call === 'deactivate' ? 'valid' : judgeLicense(license, verdict, request);
      const { code, activation } = isGood(judged)
        ? writeOrRestart(ctx, () => seatCalls.applySeat('application', call, license, terms, request, seatMs))
        : { code: judged, activation: heldBy(license, request, seatMs) };
      const seats = seatsOf(license, terms, seatMs);
      const answer = toApplicationVerdict(license, verdict, terms, { code, activation, seats });
      if (code !== 'no_seat') return answer;
      return {
        ...answer,
        retryAtMs: retryAtMs(license, terms, seatMs),
        machines: terms.selfService ? machinesOf(license, seatMs) : null,
      };
    },

    /** Returns what a branch needs to answer such a verify itself, or null if it can't. */
    rowFor: (
      license: CopiedLicense,
      fingerprint: string | undefined,
      nowMs: number,
    ): ApplicationRow | null => {
      const terms = copy.termsOf(license);
      const applied = terms ?? NO_TERMS;
      if (hasNoSeats(applied, fingerprint)) return { license, terms, activation: null, count: null };
      const seatMs = clock.read(nowMs);
      const activation = fingerprint ? activations.read(license.id, fingerprint, seatMs) : null;
      if (!isCopied(applied, activation, seatMs)) return null;
      const { used, untilMs } = activations.count(license.id, seatMs);
      return {
        license,
        terms,
        activation,
        count: applied.maxActivations === null ? null : { used, untilMs },
      };
    },

    list: (license: CopiedLicense, limit: number, beforeId: string | null, nowMs: number): SeatPage => {
      const seatMs = clock.read(nowMs);
      return {
        activations: activations.listLive(license.id, seatMs, limit, beforeId),
        seats: seatsOf(license, termsOf(license), seatMs),
      };
    },

    /** Releases a seat for the seller. A seat that an offline file holds is only released by force. */
    release: (license: CopiedLicense, id: string, force: boolean, nowMs: number): ReleaseResult => {
      const seatMs = clock.read(nowMs);
      const activation = activations.find(license.id, id, seatMs);
      if (!activation || !isReleasable(activation, seatMs)) return 'not_found';
      const { fileUntilMs } = activation.seat;
      if (fileUntilMs !== null && fileUntilMs > seatMs && !force) return 'held_by_file';
      const terms = termsOf(license);
      writeOrRestart(ctx, () => seatCalls.release('seller', license, terms, activation, seatMs, true));
      return 'released';
    },

    /** Adds machines of an import to their licenses, in one transaction. */
    importSeats: (seats: [CopiedLicense | null, ImportedSeat][], isDryRun: boolean, nowMs: number) => {
      const seatMs = clock.read(nowMs);
      const add = ([license, seat]: (typeof seats)[number]): ImportedSeatResult =>
        license === null
          ? 'license_not_found'
          : seatCalls.addImported(license, termsOf(license), seat, isDryRun, seatMs);
      return writeOrRestart(ctx, () => seats.map(add));
    },

    /** Takes the seat that an offline file needs, and holds it until the file ends. */
    holdForFile: (license: CopiedLicense, request: FileRequest, nowMs: number): FileVerdict => {
      const verdict = decideVerdict(license, isoDate(nowMs));
      if (!verdict.valid) return { refused: judgeLicense(license, verdict, request) };
      const terms = termsOf(license);
      const { id, licenseKey, product, expiresAt, updatesUntil } = license;
      const offlineDays = request.days ?? terms.offlineDays;
      const file = {
        refused: null,
        id,
        licenseKey,
        product,
        expiresAt,
        updatesUntil,
        offlineDays,
        issuedAtMs: nowMs,
      } as const;
      if (offlineDays === 0) return { refused: 'days_required' };
      const { entitlements } = terms;
      if (terms.maxActivations === null) return { ...file, entitlements, activationId: null };
      const seatMs = clock.read(nowMs);
      const fileUntilMs = tokenEndMs({ offlineDays, licenseEnds: expiresAt }, seatMs);
      return writeOrRestart(ctx, () => {
        const { code, activation } = seatCalls.applySeat(
          'seller',
          'activate',
          license,
          terms,
          request,
          seatMs,
        );
        if (!activation) return { refused: code };
        const { seat } = activation;
        const isLater = fileUntilMs > (seat.fileUntilMs ?? 0);
        if (isLater) activations.replace({ ...activation, seat: { ...seat, fileUntilMs } });
        return { ...file, entitlements, activationId: activation.id };
      });
    },
  };
};

export type Applications = ReturnType<typeof openApplications>;
