import { DAY_MS } from '../../shared/rules/dates.ts';
import { LEASE_MS, OPEN_AFTER_CALLS, type Region } from '../../shared/rules/regions.ts';

// A branch answers verifies only while it holds a lease on its copy (Gray and Cheriton, 1989). Home knows for at least as
// long as the branch does that the branch is leased, and answers no change before every leased branch has applied it. Each
// side counts by its own clock, so the clocks may differ, but not in speed by more than the margin allows.

/** Clocks that differ in speed by 1% each. */
const DRIFT = 0.02;
/** Clocks that are set forward or back by as much. */
const STEP_MS = 1_400;

/** How much earlier a branch ends a lease than home. */
export const leaseMarginMs = (leaseMs: number): number => Math.ceil(leaseMs * DRIFT) + STEP_MS;

/** When a branch with traffic renews its lease. Less than a third of the lease is left for a renewal that fails. */
export const renewAfterMs = (leaseMs: number): number =>
  Math.floor(((leaseMs - leaseMarginMs(leaseMs)) * 5) / 7);

/** A branch's lease, by the branch's clock. It is never stored: a restarted branch asks home first. */
export interface Lease {
  sentMs: number;
  untilMs: number;
  /** The length that home has given it. */
  leaseMs: number;
}

export interface RenewalAnswer {
  /** When the branch sent the renewal. Counting from the answer would make the lease longer than home's. */
  sentMs: number;
  /** Home decides how long a lease is. */
  leaseMs: number;
  /** The revision that the branch has to have applied before the lease holds. */
  through: number;
}

/** Returns a branch's lease after home has answered a renewal. `applied` is the revision that the branch has applied. */
export const renew = (lease: Lease | null, answer: RenewalAnswer, applied: number): Lease | null => {
  const { sentMs, leaseMs, through } = answer;
  if (applied < through) return lease;
  const untilMs = sentMs + leaseMs - leaseMarginMs(leaseMs);
  return lease && lease.untilMs >= untilMs ? lease : { sentMs, untilMs, leaseMs };
};

/**
 * Whether a branch may answer from its copy. A clock that was set back to before the renewal ends the lease. A timer would also
 * end it after a smaller step back, but it would keep the object in memory, and billed, and home's clock may step forward, too.
 */
export const mayAnswer = (lease: Lease | null, nowMs: number): lease is Lease =>
  lease !== null && nowMs >= lease.sentMs && nowMs < lease.untilMs;

export const isRenewalDue = (lease: Lease | null, nowMs: number): boolean =>
  !mayAnswer(lease, nowMs) || nowMs >= lease.sentMs + renewAfterMs(lease.leaseMs);

/** How long a branch waits between its alarms. */
export const alarmIntervalMs = (lease: Lease | null): number => renewAfterMs(lease?.leaseMs ?? LEASE_MS);

/** Whether the lease would end before the next alarm. */
export const endsBeforeAlarm = (lease: Lease | null, nowMs: number): boolean =>
  lease === null || !mayAnswer(lease, nowMs + alarmIntervalMs(lease) + leaseMarginMs(lease.leaseMs));

/** Returns until when home treats a branch as leased after it answered a renewal. A lease never gets shorter. */
export const leasedUntil = (leasedUntilMs: number, answeredMs: number, leaseMs: number): number =>
  Math.max(leasedUntilMs, answeredMs + leaseMs);

/**
 * Returns what home stores with a renewal: how long the branch may be leased from then on. That is more than the lease's own
 * length if an earlier lease was longer, from before a new setting, because the branch may not get this answer.
 */
export const storedLeaseMs = (leasedUntilMs: number, answeredMs: number): number =>
  leasedUntilMs - answeredMs;

/**
 * Returns until when a restarted home treats a branch as leased. Home doesn't store when leases end, so each branch may just
 * have renewed. `leaseMs` is what home has stored with the branch's last renewal.
 */
export const leasedUntilAtStart = (startedMs: number, leaseMs: number): number => startedMs + leaseMs;

/** Counts calls in intervals, which are as long as those between renewals. */
export const openRecentCalls = (startedMs: number, intervalMs: () => number) => {
  let sinceMs = startedMs;
  let count = 0;
  let before = 0;

  const rotate = (nowMs: number) => {
    const elapsedMs = nowMs - sinceMs;
    if (elapsedMs >= 0 && elapsedMs < intervalMs()) return;
    before = elapsedMs < 2 * intervalMs() ? count : 0;
    count = 0;
    sinceMs = nowMs;
  };

  return {
    note: (nowMs: number) => {
      rotate(nowMs);
      count++;
    },

    /** Returns the calls in the present interval or in the one before, whichever are more. */
    count: (nowMs: number): number => {
      rotate(nowMs);
      return Math.max(count, before);
    },
  };
};

export const OPEN_WINDOW_MS = 60_000;
export const CLOSE_AFTER_MS = 15 * 60_000;
/** A branch renews its lease or closes long before. */
const GONE_AFTER_MS = DAY_MS;
/** One for each region but home's. */
const MAX_BRANCHES = 6;

/** Regions so near to each other that a branch would save less than what it adds to every change. */
const NEIGHBORS: Partial<Record<Region, Region>> = { weur: 'eeur', eeur: 'weur' };

export interface RegionCalls {
  region: Region;
  home: Region | null;
  opened: readonly Region[];
  /** Calls from this region that home has answered within the window. */
  calls: number;
}

/** Whether a region may have a branch. Home's own region and its neighbor have none. */
export const mayHaveBranch = (region: Region, home: Region | null): boolean =>
  region !== home && NEIGHBORS[region] !== home;

/** Whether home opens a branch for a region. */
export const shouldOpen = (
  { region, home, opened, calls }: RegionCalls,
  openAfterCalls = OPEN_AFTER_CALLS,
): boolean =>
  calls >= openAfterCalls &&
  mayHaveBranch(region, home) &&
  !opened.includes(region) &&
  opened.length < MAX_BRANCHES;

/** Counts the calls of each region, in windows of a minute. */
export const openCallWindows = () => {
  const windows = new Map<Region, { sinceMs: number; count: number }>();

  return {
    /** Counts a call, and returns how many there were in the window. */
    count: (region: Region, nowMs: number): number => {
      const window = windows.get(region);
      const isOver = !window || nowMs - window.sinceMs >= OPEN_WINDOW_MS;
      const { sinceMs, count } = isOver ? { sinceMs: nowMs, count: 0 } : window;
      windows.set(region, { sinceMs, count: count + 1 });
      return count + 1;
    },

    forget: (region: Region) => windows.delete(region),
  };
};

/** Whether a branch closes: it gives back what it holds and forgets the rest. */
export const shouldClose = (lastCallMs: number, nowMs: number, closeAfterMs = CLOSE_AFTER_MS): boolean =>
  nowMs - lastCallMs >= closeAfterMs;

/** Whether home closes a branch by itself, because the branch has not reported for so long that it may never return. */
export const isGone = (heardMs: number, nowMs: number): boolean => nowMs - heardMs >= GONE_AFTER_MS;
