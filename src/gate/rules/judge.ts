import { DAY_MS, isoTime, isoTimeOrNull } from '../../shared/rules/dates.ts';
import { graceUntil, type LicenseStatus, licenseState } from '../../shared/rules/licenses.ts';
import type { Terms } from '../../shared/rules/terms.ts';
import {
  type CallInput,
  type CallName,
  type PlainVerdict,
  type Verdict,
  VERDICT_CODES,
  type VerdictCode,
} from '../../shared/rules/verdict.ts';
import type { CopiedLicense } from './rows.ts';
import {
  type Description,
  isCounted,
  isHeld,
  isLive,
  isRecent,
  type Machine,
  type NewMachine,
  releasedSeat,
  renewedSeat,
  type Seat,
  type SeatCounts,
  type SeatMove,
  takenSeat,
} from './seats.ts';

// The judgment on a call: whether its license is good, whether its machine has a seat, and what that changes about the seat.
// Home applies the changes. A branch answers the calls that change nothing.

/** A call, and what is known of its license and its machine. */
export interface Situation {
  call: CallName;
  input: CallInput;
  /** Whether the call has moved a seat before. It moves none again: the machine may have done otherwise since. */
  isRepeat?: boolean;
  /** Null if there is no such license. */
  license: CopiedLicense | null;
  terms: Terms;
  /** The machine that the fingerprint names. */
  machine: Machine | null;
  /** The machine whose seat the call asks for. */
  other: Machine | null;
  /** Counting may read every seat of the license, so it is done only if the call depends on it. */
  count: () => SeatCounts;
  today: string;
  /** The time of seats, which never steps back: see `openSeatClock`. */
  nowMs: number;
}

/** What becomes of a machine. `action` is what the license's history and an event say about it. */
export type MachineChange = { action: SeatMove | null } &
  /** `add` adds a machine of an import that holds no seat any more. */
  (
    | { kind: 'take' | 'add'; machine: NewMachine }
    /** `see` renews nothing, and only notes that the machine was seen. */
    | { kind: 'renew' | 'see' | 'release'; machine: Machine }
  );

export interface Judgment<Code = VerdictCode> {
  code: Code;
  /** The last one is that of the call's own machine. */
  changes: MachineChange[];
}

const VERIFY_DUE_MS = DAY_MS;

/** What the application says of its machine, and what it has said before. */
export const describe = ({ input, machine }: Situation): Description => ({
  name: input.name ?? machine?.name ?? null,
  platform: input.platform ?? machine?.platform ?? null,
  appVersion: input.app_version ?? machine?.appVersion ?? null,
});

const isSame = (a: Description, b: Description) =>
  a.name === b.name && a.platform === b.platform && a.appVersion === b.appVersion;

/** A seat that an offline file holds can't be taken over. */
const isReplaceable = ({ seat }: Machine, nowMs: number) =>
  isHeld(seat, nowMs) && (seat.fileUntilMs ?? 0) <= nowMs;

/** By force, an offline file doesn't hold the seat any longer. */
export const release = (machine: Machine, nowMs: number, isForced = false): MachineChange => ({
  kind: 'release',
  machine: { ...machine, seat: releasedSeat(machine.seat, nowMs, isForced) },
  action: 'released',
});

/** Renews the seat that the machine holds. */
const renew = (situation: Situation, machine: Machine): MachineChange[] => {
  const { call, input, terms, nowMs } = situation;
  const { seat: before } = machine;
  const seat = renewedSeat(before, call, terms, input.lease_seconds, nowMs);
  // Only calls that count may write a name, because nothing else bounds how often.
  const description = isCounted(call) ? describe(situation) : machine;
  const isRenewed = seat.leaseUntilMs !== before.leaseUntilMs || before.releasedAtMs !== null;
  const isRenamed = !isSame(description, machine);
  if (seat === before && !isRenamed) return [];
  return [
    {
      kind: isRenewed || isRenamed ? 'renew' : 'see',
      machine: { ...machine, ...description, seat },
      action: before.releasedAtMs === null ? null : 'taken',
    },
  ];
};

/** Takes a seat for the machine. One that returns after a lapse, without a release, is the same as before. */
const take = (situation: Situation, license: CopiedLicense, fingerprint: string): MachineChange => {
  const { input, terms, machine, nowMs } = situation;
  const isReturning = machine !== null && machine.seat.releasedAtMs === null;
  return {
    kind: 'take',
    machine: {
      ...describe(situation),
      id: isReturning ? machine.id : null,
      licenseId: license.id,
      fingerprint,
      seat: takenSeat(machine?.seat ?? null, terms, input.lease_seconds, nowMs),
    },
    action: isReturning ? null : 'taken',
  };
};

/** A license stays active in its days of grace. */
export const stateWithin = (license: CopiedLicense, graceDays: number, today: string): LicenseStatus => {
  const expiresAt = graceUntil(license.expiresAt, graceDays) ?? license.expiresAt;
  return licenseState({ ...license, expiresAt }, today);
};

/** Whether a call's machine has a seat, and whether it may take one. */
interface Standing {
  seat: Seat | null;
  hasReleased: boolean;
  holdsSeat: boolean;
  hasLapsed: boolean;
  /** Whether the call may take a seat for the machine. */
  mayTake: boolean;
  /** The machine whose seat it takes over. */
  replaced: Machine | null;
}

const standingOf = ({ call, isRepeat, machine, other, nowMs }: Situation): Standing => {
  const isActivation = call === 'activate' && !isRepeat;
  const seat = machine?.seat ?? null;
  const hasReleased = seat !== null && seat.releasedAtMs !== null;
  // Only activating takes up a seat again that an offline file has held since the machine released it.
  const holdsSeat = seat !== null && isLive(seat, nowMs) && (!hasReleased || isActivation);
  const hasLapsed = seat !== null && !hasReleased && !holdsSeat;
  const mayTake = !holdsSeat && (isActivation || (call === 'verify' && hasLapsed));
  const replaced = mayTake && isActivation && other && isReplaceable(other, nowMs) ? other : null;
  return { seat, hasReleased, holdsSeat, hasLapsed, mayTake, replaced };
};

/** Returns the first code that fits. */
const codeOf = (situation: Situation, standing: Standing): VerdictCode => {
  const { call, input, license, terms, count, today, nowMs } = situation;
  const { seat, holdsSeat, hasLapsed, mayTake, replaced } = standing;
  const { maxActivations: limit, maxTransfers } = terms;
  const { fingerprint, product, release_date: releaseDate } = input;
  const updatesUntil = license?.updatesUntil ?? null;
  const isLeaving = call === 'deactivate';
  // A machine may leave whatever the state of its license.
  const status = license && !isLeaving ? stateWithin(license, terms.graceDays, today) : null;

  const isFull = (max: number) => count().used - (replaced ? 1 : 0) >= max;
  const isTransfer = (max: number) =>
    maxTransfers !== null && !(seat && isRecent(seat, nowMs)) && count().recent >= max + maxTransfers;
  /** The limit, for a machine that needs one of its seats. */
  const needed = holdsSeat || isLeaving ? null : limit;

  // In the order of VERDICT_CODES and of docs/applications.md, which says the same in words.
  const fits: Record<VerdictCode, () => boolean> = {
    not_found: () => license === null,
    revoked: () => status === 'revoked',
    suspended: () => status === 'suspended',
    expired: () => status === 'expired',
    wrong_product: () => !isLeaving && product !== undefined && product !== license?.product,
    updates_ended: () =>
      !isLeaving && updatesUntil !== null && releaseDate !== undefined && releaseDate > updatesUntil,
    fingerprint_required: () => limit !== null && !fingerprint,
    // Without a limit of seats, a machine that was never counted has no record. A heartbeat is no free verify for it.
    verify_due: () =>
      call === 'heartbeat' && (seat ? nowMs - seat.countedAtMs > VERIFY_DUE_MS : limit === null),
    not_activated: () => needed !== null && !mayTake && !(hasLapsed && isFull(needed)),
    no_seat: () => needed !== null && isFull(needed),
    transfer_limit: () => needed !== null && isTransfer(needed),
    deactivated: () => isLeaving,
    valid: () => true,
  };
  return VERDICT_CODES.find((name) => fits[name]()) ?? 'valid';
};

const seatChanges = (code: VerdictCode, situation: Situation, standing: Standing): MachineChange[] => {
  const { input, isRepeat, license, machine, nowMs } = situation;
  const { hasReleased, holdsSeat, mayTake, replaced } = standing;
  if (code === 'deactivated' && machine && !hasReleased && !isRepeat) return [release(machine, nowMs)];
  if (code !== 'valid' || !license || !input.fingerprint) return [];
  if (holdsSeat && machine) return renew(situation, machine);
  if (!mayTake) return [];
  const taken = take(situation, license, input.fingerprint);
  return replaced ? [release(replaced, nowMs), taken] : [taken];
};

/** Decides a call: the first code that fits, and what becomes of machines. */
export const judge = (situation: Situation): Judgment => {
  const standing = standingOf(situation);
  const code = codeOf(situation, standing);
  return { code, changes: seatChanges(code, situation, standing) };
};

/** The verdict on a license without terms, if the application says nothing but its key. */
export const plainVerdict = (license: CopiedLicense | null, today: string, graceDays = 0): PlainVerdict => {
  const status = license ? stateWithin(license, graceDays, today) : 'not_found';
  return { valid: status === 'active', status, expires_at: license?.expiresAt ?? null };
};

/** Returns how many of the license's seats are used, or null if they aren't limited. */
export const seatsOf = ({ terms, count }: Pick<Situation, 'terms' | 'count'>): Verdict['seats'] =>
  terms.maxActivations === null ? null : { used: count().used, limit: terms.maxActivations };

/** Returns the verdict, without what only a machine that finds no seat is told. `machine` is as it is after the call. */
export const toVerdict = (situation: Situation, code: VerdictCode, machine: Machine | null): Verdict => {
  const { input, license, terms, today, nowMs } = situation;
  const holder = machine && isHeld(machine.seat, nowMs) ? machine : null;
  return {
    ...plainVerdict(license, today, terms.graceDays),
    valid: code === 'valid',
    code,
    license_key: license?.licenseKey ?? input.license_key,
    license_id: license?.id ?? null,
    product: license?.product ?? null,
    entitlements: terms.entitlements,
    updates_until: license?.updatesUntil ?? null,
    grace_until: license && graceUntil(license.expiresAt, terms.graceDays),
    offline_days: terms.offlineDays,
    activation: holder && {
      id: holder.id,
      name: holder.name,
      platform: holder.platform,
      activated_at: isoTime(holder.seat.activatedAtMs),
      lease_until: isoTimeOrNull(holder.seat.leaseUntilMs),
    },
    seats: seatsOf(situation),
    retry_at: null,
    machines: null,
  };
};
