import { isoDate } from '../shared/rules/dates.ts';
import { type EntitlementValue, resolveTerms, type Terms } from '../shared/rules/terms.ts';
import { tokenEndMs } from '../shared/rules/tokens.ts';
import type { Activation, Activations } from './activations.ts';
import type { Copy } from './copy.ts';
import type { CopiedLicense } from './copy-tables.ts';
import type { Outgoing } from './outgoing.ts';
import { openSeatCalls } from './seat-calls.ts';
import { openSeatClock } from './seat-clock.ts';
import { isHeld, isLive, type SeatCall, type SeatCode } from './seats.ts';
import type { FileRequest, FileVerdict, ReleaseResult, SeatPage } from './seller-types.ts';
import { writeOrRestart } from '../shared/write-or-restart.ts';
import { decideVerdict, type Verdict } from './verdict.ts';

// Judges the calls of an application: whether its license is good, and whether its machine holds a seat.

export interface ApplicationRequest {
  licenseKey: string;
  name?: string | undefined;
  platform?: string | undefined;
  appVersion?: string | undefined;
  fingerprint?: string | undefined;
  /** The product that the application belongs to. */
  product?: string | undefined;
  /** When the application's version was released. */
  releaseDate?: string | undefined;
  leaseSeconds?: number | undefined;
  /** The activation whose seat the application takes over. */
  replace?: string | undefined;
}

export type ApplicationCode =
  | 'not_found'
  | 'revoked'
  | 'suspended'
  | 'expired'
  | 'wrong_product'
  | 'updates_ended'
  | SeatCode;

export interface ApplicationVerdict extends Verdict {
  code: ApplicationCode;
  /** As stored or, if there is no such license, as presented. */
  licenseKey: string;
  licenseId: string | null;
  product: string | null;
  entitlements: Record<string, EntitlementValue>;
  updatesUntil: string | null;
  offlineDays: number;
  activation:
    | (Pick<Activation, 'id' | 'name' | 'platform'> & { activatedAtMs: number; leaseUntilMs: number | null })
    | null;
  seats: { used: number; limit: number } | null;
  retryAtMs: number | null;
  machines: (Pick<Activation, 'id' | 'name' | 'platform'> & { lastSeenAtMs: number })[] | null;
}

const NO_TERMS = resolveTerms({}, {});
/** Machines that an application without a seat is told about: those that were seen longest ago. */
const MAX_MACHINES = 100;

const isGood = (code: ApplicationCode) => code === 'valid';

/** Decides what doesn't depend on seats. */
const judgeLicense = (
  license: CopiedLicense,
  { status }: Verdict,
  { product, releaseDate }: ApplicationRequest,
): ApplicationCode => {
  if (status !== 'active') return status;
  if (product !== undefined && product !== license.product) return 'wrong_product';
  const { updatesUntil } = license;
  return updatesUntil !== null && releaseDate !== undefined && releaseDate > updatesUntil
    ? 'updates_ended'
    : 'valid';
};

const UNKNOWN = {
  code: 'not_found',
  licenseId: null,
  product: null,
  entitlements: {},
  updatesUntil: null,
  offlineDays: NO_TERMS.offlineDays,
  activation: null,
  seats: null,
  retryAtMs: null,
  machines: null,
} as const satisfies Partial<ApplicationVerdict>;

/** Whether the machine hasn't released its seat, or a file still holds it. */
const isReleasable = ({ seat }: Activation, nowMs: number) =>
  seat.releasedAtMs === null || isLive(seat, nowMs);

interface Parts {
  ctx: DurableObjectState;
  copy: Pick<Copy, 'termsOf'>;
  activations: Activations;
  outgoing: Outgoing;
}

export const openApplications = ({ ctx, copy, activations, outgoing }: Parts) => {
  const clock = openSeatClock(ctx.storage.kv);
  const seatCalls = openSeatCalls(activations, outgoing, clock);

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
      const hasNoSeat = code === 'no_seat';
      return {
        ...verdict,
        valid: isGood(code),
        code,
        licenseKey: license.licenseKey,
        licenseId: license.id,
        product: license.product,
        entitlements: terms.entitlements,
        updatesUntil: license.updatesUntil,
        offlineDays: terms.offlineDays,
        activation: activation && {
          id: activation.id,
          name: activation.name,
          platform: activation.platform,
          activatedAtMs: activation.seat.activatedAtMs,
          leaseUntilMs: activation.seat.leaseUntilMs,
        },
        seats: seatsOf(license, terms, seatMs),
        retryAtMs: hasNoSeat ? retryAtMs(license, terms, seatMs) : null,
        machines: hasNoSeat && terms.selfService ? machinesOf(license, seatMs) : null,
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
      writeOrRestart(ctx, () => seatCalls.release('seller', license, activation, seatMs, true));
      return 'released';
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
