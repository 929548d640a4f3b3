import { DAY_MS, HOUR_MS } from '../../shared/rules/dates.ts';
import { type Terms, TRANSFER_DAYS } from '../../shared/rules/terms.ts';

// Decides who holds a license's seats. A seat is live until its `liveUntilMs`, so nothing has to run when a lease ends.

export type SeatCall = 'verify' | 'activate' | 'heartbeat' | 'deactivate';

/** A machine that holds a seat, or has held a seat within the last 30 days. */
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
export interface Machine {
  name: string | null;
  platform: string | null;
  appVersion: string | null;
}

export interface Activation extends Machine {
  id: string;
  licenseId: string;
  fingerprint: string;
  seat: Seat;
}

export interface SeatCounts {
  /** Live seats. */
  used: number;
  /** Machines with a seat that is live or was live within the last 30 days. */
  recent: number;
}

export type SeatTerms = Pick<Terms, 'maxActivations' | 'leaseSeconds' | 'offlineDays' | 'maxTransfers'>;

export type SeatCode =
  | 'valid'
  | 'fingerprint_required'
  | 'verify_due'
  | 'not_activated'
  | 'no_seat'
  | 'transfer_limit'
  | 'deactivated';

export interface SeatRequest {
  call: SeatCall;
  terms: SeatTerms;
  hasFingerprint: boolean;
  /** The seat of the request's fingerprint. */
  seat: Seat | null;
  /** Counting reads every seat of the license, so it is only done when a seat is taken. */
  count: () => SeatCounts;
  /** A live seat of another machine that the request replaces. */
  replaces: boolean;
  /** A shorter or longer lease than the terms', if the application asks for it. */
  leaseSeconds?: number | undefined;
}

/** `seat` is the seat's new state, or null if nothing has to be written. */
export interface SeatDecision {
  code: SeatCode;
  seat: Seat | null;
  /** Whether the machine takes a seat that it didn't hold. */
  takes: boolean;
  /** Whether the other machine's seat is released. */
  replaces: boolean;
}

const TRANSFER_MS = TRANSFER_DAYS * DAY_MS;
const VERIFY_DUE_MS = DAY_MS;
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

/** An application may ask for at least a minute, and for at most the longer of the terms' lease and offline time. */
const leaseMs = ({ leaseSeconds, offlineDays }: SeatTerms, requested: number | undefined): number | null => {
  if (leaseSeconds === null) return null;
  const longestMs = Math.max(leaseSeconds * 1_000, offlineDays * DAY_MS);
  return requested === undefined ? leaseSeconds * 1_000 : Math.min(requested * 1_000, longestMs);
};

/** A renewal never shortens a lease. */
const renewedUntilMs = (currentMs: number | null, durationMs: number | null, nowMs: number) => {
  if (durationMs === null) return null;
  if (currentMs === null) return nowMs + durationMs;
  return nowMs + durationMs - currentMs >= durationMs * LEASE_STEP ? nowMs + durationMs : currentMs;
};

const refuse = (code: SeatCode): SeatDecision => ({ code, seat: null, takes: false, replaces: false });

/** Heartbeats and deactivations are free. */
export const isCounted = (call: SeatCall) => call === 'verify' || call === 'activate';

/** Renews a seat that the machine holds. */
const renew = ({ call, terms, leaseSeconds }: SeatRequest, seat: Seat, nowMs: number): SeatDecision => {
  const leaseUntilMs = renewedUntilMs(seat.leaseUntilMs, leaseMs(terms, leaseSeconds), nowMs);
  const isSeenLater = nowMs - seat.lastSeenAtMs >= LAST_SEEN_INTERVAL_MS;
  const isCountedLater = isCounted(call) && nowMs - seat.countedAtMs >= LAST_SEEN_INTERVAL_MS;
  const isUnchanged = leaseUntilMs === seat.leaseUntilMs && seat.releasedAtMs === null;
  if (isUnchanged && !isSeenLater && !isCountedLater) return refuse('valid');
  const countedAtMs = isCounted(call) ? nowMs : seat.countedAtMs;
  return {
    code: 'valid',
    seat: { ...seat, leaseUntilMs, countedAtMs, lastSeenAtMs: nowMs, releasedAtMs: null },
    takes: false,
    replaces: false,
  };
};

/** Takes a seat, if there is one for the machine. */
const take = (request: SeatRequest, nowMs: number): SeatDecision => {
  const { call, terms, seat, leaseSeconds } = request;
  const { maxActivations, maxTransfers } = terms;
  const replaces = call === 'activate' && request.replaces;
  if (maxActivations !== null) {
    const { used, recent } = request.count();
    if (used - (replaces ? 1 : 0) >= maxActivations) return refuse('no_seat');
    const isReturning = seat !== null && isRecent(seat, nowMs);
    if (!isReturning && maxTransfers !== null && recent >= maxActivations + maxTransfers)
      return refuse('transfer_limit');
  }
  const durationMs = leaseMs(terms, leaseSeconds);
  return {
    code: 'valid',
    seat: {
      activatedAtMs: seat && seat.releasedAtMs === null ? seat.activatedAtMs : nowMs,
      lastSeenAtMs: nowMs,
      countedAtMs: nowMs,
      leaseUntilMs: durationMs === null ? null : nowMs + durationMs,
      fileUntilMs: seat?.fileUntilMs ?? null,
      releasedAtMs: null,
    },
    takes: true,
    replaces,
  };
};

const release = ({ seat }: SeatRequest, nowMs: number): SeatDecision => ({
  ...refuse('deactivated'),
  seat:
    seat && seat.releasedAtMs === null
      ? { ...seat, releasedAtMs: Math.min(nowMs, seat.leaseUntilMs ?? nowMs) }
      : null,
});

/** The answer to a machine without a live seat that may not take a seat with this call. */
const decideWithoutSeat = ({ terms, seat, count }: SeatRequest): SeatDecision => {
  const { maxActivations } = terms;
  if (maxActivations === null) return refuse('valid');
  const hasLapsed = seat !== null && seat.releasedAtMs === null;
  return refuse(hasLapsed && count().used >= maxActivations ? 'no_seat' : 'not_activated');
};

/** Decides a call of an application for a license that is good. `nowMs` must never step back, see `openSeatClock`. */
export const decideSeat = (request: SeatRequest, nowMs: number): SeatDecision => {
  const { call, terms, hasFingerprint, seat } = request;
  if (!hasFingerprint) {
    if (terms.maxActivations !== null) return refuse('fingerprint_required');
    return refuse(call === 'deactivate' ? 'deactivated' : 'valid');
  }
  if (call === 'deactivate') return release(request, nowMs);
  if (call === 'heartbeat' && seat && nowMs - seat.countedAtMs > VERIFY_DUE_MS) return refuse('verify_due');
  const isOwn = seat !== null && (seat.releasedAtMs === null || call === 'activate');
  if (isOwn && isLive(seat, nowMs)) return renew(request, seat, nowMs);
  const mayTake = call === 'activate' || (call === 'verify' && seat !== null && seat.releasedAtMs === null);
  return mayTake ? take(request, nowMs) : decideWithoutSeat(request);
};
