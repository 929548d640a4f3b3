import { DAY_MS, HOUR_MS } from '../../shared/rules/dates.ts';
import { type Terms, TRANSFER_DAYS } from '../../shared/rules/terms.ts';
import type { CallName, Verdict } from '../../shared/rules/verdict.ts';

// Seats and the machines that hold them. A seat is live until its `liveUntilMs`, so nothing has to run when a lease ends.

export interface Seat {
  activatedAtMs: number;
  lastSeenAtMs: number;
  /** The machine's last call that counted as usage. */
  countedAtMs: number;
  /** Null if the seat is held until it is released. */
  leaseUntilMs: number | null;
  /** An offline file holds the seat until then, even if it is released. */
  fileUntilMs: number | null;
  releasedAtMs: number | null;
}

/** What an application says about its machine. */
export interface Description {
  name: string | null;
  platform: string | null;
  appVersion: string | null;
}

/** A machine that holds a seat, or has held one within the last 30 days. The API calls it an activation. */
export interface Machine extends Description {
  id: string;
  licenseId: string;
  fingerprint: string;
  seat: Seat;
}

/** A machine that may have no id yet. */
export type NewMachine = Omit<Machine, 'id'> & { id: string | null };

/** Without a limit of seats, a license keeps so many machines. With one, see `releasedKept`. */
export const SPARE_MACHINES = 1_000;

/**
 * Without a limit, machines that were used on one day only go first while they are more than this. So whoever activates many
 * made-up machines on a day displaces no more than half of those that are used day by day, and each new machine has the time to
 * become one of them.
 */
export const NEW_MACHINES = SPARE_MACHINES / 2;

/** A machine is no longer new once it has made a counted call so long after it activated. */
export const NEW_MS = DAY_MS;

/** With a limit, a license keeps so many machines that have released their seats. Transfers are counted by them. */
export const releasedKept = (maxActivations: number, maxTransfers: number | null): number =>
  maxActivations + Math.max(SPARE_MACHINES, maxTransfers ?? 0);

export interface SeatCounts {
  /** Live seats. */
  used: number;
  /** Machines with a seat that is live or was live within the last 30 days. */
  recent: number;
}

export const TRANSFER_MS = TRANSFER_DAYS * DAY_MS;
/** When a seat ends that is held until it is released: after every time. */
export const FOREVER_MS = Number.MAX_SAFE_INTEGER;
const LAST_SEEN_INTERVAL_MS = HOUR_MS;
/** A lease is written only if it moves by this part of its length. */
const LEASE_STEP = 0.1;

/** Returns when the seat becomes free, or Infinity if it is held until it is released. */
export const liveUntilMs = ({ leaseUntilMs, fileUntilMs, releasedAtMs }: Seat): number =>
  Math.max(fileUntilMs ?? 0, releasedAtMs ?? leaseUntilMs ?? Infinity);

export const isLive = (seat: Seat, nowMs: number): boolean => liveUntilMs(seat) > nowMs;

/** Whether the machine itself holds the seat, and not only an offline file that it had before it released the seat. */
export const isHeld = (seat: Seat, nowMs: number): boolean =>
  seat.releasedAtMs === null && isLive(seat, nowMs);

export const isRecent = (seat: Seat, nowMs: number): boolean => liveUntilMs(seat) > nowMs - TRANSFER_MS;

/** Heartbeats and deactivations are free. */
export const isCounted = (call: CallName) => call === 'verify' || call === 'activate';

/** An application may ask for at least a minute, and for at most the longer of the terms' lease and offline time. */
const leaseMs = ({ leaseSeconds, offlineDays }: Terms, requested: number | undefined): number | null => {
  if (leaseSeconds === null) return null;
  const longestMs = Math.max(leaseSeconds * 1_000, offlineDays * DAY_MS);
  return requested === undefined ? leaseSeconds * 1_000 : Math.min(requested * 1_000, longestMs);
};

/** The seat of a machine that takes one. It keeps what it had, unless it has released it. */
export const takenSeat = (
  before: Seat | null,
  terms: Terms,
  requestedSeconds: number | undefined,
  nowMs: number,
): Seat => {
  const durationMs = leaseMs(terms, requestedSeconds);
  return {
    activatedAtMs: before && before.releasedAtMs === null ? before.activatedAtMs : nowMs,
    lastSeenAtMs: nowMs,
    countedAtMs: nowMs,
    leaseUntilMs: durationMs === null ? null : nowMs + durationMs,
    fileUntilMs: before?.fileUntilMs ?? null,
    releasedAtMs: null,
  };
};

/** A renewal never shortens a lease. */
const renewedUntilMs = (currentMs: number | null, durationMs: number | null, nowMs: number) => {
  if (durationMs === null) return null;
  if (currentMs === null) return nowMs + durationMs;
  return nowMs + durationMs - currentMs >= durationMs * LEASE_STEP ? nowMs + durationMs : currentMs;
};

/** The seat of a machine that goes on holding it. It is the same object if nothing has to be written. */
export const renewedSeat = (
  seat: Seat,
  call: CallName,
  terms: Terms,
  requestedSeconds: number | undefined,
  nowMs: number,
): Seat => {
  const leaseUntilMs = renewedUntilMs(seat.leaseUntilMs, leaseMs(terms, requestedSeconds), nowMs);
  const isSeenLater = nowMs - seat.lastSeenAtMs >= LAST_SEEN_INTERVAL_MS;
  const isCountedLater = isCounted(call) && nowMs - seat.countedAtMs >= LAST_SEEN_INTERVAL_MS;
  const isUnchanged = leaseUntilMs === seat.leaseUntilMs && seat.releasedAtMs === null;
  if (isUnchanged && !isSeenLater && !isCountedLater) return seat;
  const countedAtMs = isCounted(call) ? nowMs : seat.countedAtMs;
  return { ...seat, leaseUntilMs, countedAtMs, lastSeenAtMs: nowMs, releasedAtMs: null };
};

/** A seat whose lease has ended was free from then on. */
export const releasedSeat = (seat: Seat, nowMs: number, isForced: boolean): Seat => ({
  ...seat,
  releasedAtMs: Math.min(nowMs, liveUntilMs(seat)),
  fileUntilMs: isForced ? null : seat.fileUntilMs,
});

/** Who took or released a seat: an application, the seller with the dashboard or an API key of full scope, or a customer in the portal. */
export const SEAT_ACTORS = ['application', 'seller', 'customer'] as const;
export type SeatActor = (typeof SEAT_ACTORS)[number];
/** Whoever makes a call of the seller's side. */
export type SellingActor = Exclude<SeatActor, 'application'>;

/** Why a machine found no seat, by the verdict's code. */
export const REFUSALS = ['no_seat', 'transfer_limit'] as const;
export type SeatRefusal = (typeof REFUSALS)[number];
export type SeatMove = 'taken' | 'released';

export interface SeatChange {
  /** Counts the changes of a license. */
  seq: number;
  atMs: number;
  /** A refusal changes no seat. It is noted at most once an hour for each license. */
  action: SeatMove | SeatRefusal;
  actor: SeatActor;
  /** Empty if the machine was refused. */
  activationId: string;
  fingerprint: string;
  name: string | null;
}

/** What a seller sees of a license's seats. */
export interface SeatPage {
  machines: Machine[];
  /** Set if the page ends here although there may be more machines: so many have no seat any more. */
  continuesAfter?: string | null;
  seats: Verdict['seats'];
}

/** Asks which licenses have a machine, or, without one, a seat that is taken. */
export interface LicenseSearch {
  /** An activation's id, a fingerprint, or the beginning of a name. */
  machine: string | null;
  /** The license after which the page begins. */
  after: string | null;
  isDescending: boolean;
  limit: number;
}

/** A page of licenses, in the order of their ids. */
export interface FoundLicenses {
  /** The id of each and, if seats were asked for, how many of them are taken. */
  licenses: [id: string, used?: number][];
  /** Set if the page ends here although there may be more licenses. */
  continuesAfter: string | null;
}

/** The last machine of an export's page. */
export type MachinePosition = Pick<Machine, 'licenseId' | 'fingerprint'>;

/** The last change of a page of all licenses' seat histories. */
export type HistoryPosition = Pick<SeatChange, 'seq'> & { licenseId: string };
