import { LEASE_MS } from '../../shared/rules/regions.ts';

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

/** Returns until when home takes a branch for leased after it answered a renewal. A lease never gets shorter. */
export const leasedUntil = (leasedUntilMs: number, answeredMs: number, leaseMs: number): number =>
  Math.max(leasedUntilMs, answeredMs + leaseMs);

/**
 * Returns what home stores with a renewal: how long the branch may be leased from then on. That is more than the lease's own
 * length if an earlier lease was longer, from before a new setting, because the branch may not get this answer.
 */
export const storedLeaseMs = (leasedUntilMs: number, answeredMs: number): number =>
  leasedUntilMs - answeredMs;

/**
 * Returns until when a restarted home takes a branch for leased. Home doesn't store when leases end, so each branch may just
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
