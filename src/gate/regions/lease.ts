// A branch answers verifies only while it holds a lease on its copy (Gray and Cheriton, 1989). Home knows for at least as
// long as the branch does that the branch is leased, and answers no change before every leased branch has applied it. Each
// side counts by its own clock, so the clocks may differ, but not in speed by more than the margin allows.

export const LEASE_MS = 30_000;
/** How much earlier a branch ends a lease than home. Enough for clocks that drift by 3% of a lease. */
export const LEASE_MARGIN_MS = 2_000;
/** When a branch with traffic renews its lease. */
export const RENEW_AFTER_MS = 20_000;

/** A branch's lease, by the branch's clock. It is never stored: a restarted branch asks home first. */
export interface Lease {
  sentMs: number;
  untilMs: number;
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
  const untilMs = sentMs + leaseMs - LEASE_MARGIN_MS;
  return lease && lease.untilMs >= untilMs ? lease : { sentMs, untilMs };
};

/** Whether a branch may answer from its copy. A clock that was set back to before the renewal ends the lease. */
export const mayAnswer = (lease: Lease | null, nowMs: number): lease is Lease =>
  lease !== null && nowMs >= lease.sentMs && nowMs < lease.untilMs;

export const isRenewalDue = (lease: Lease | null, nowMs: number): boolean =>
  !mayAnswer(lease, nowMs) || nowMs >= lease.sentMs + RENEW_AFTER_MS;

/** Returns until when home takes a branch for leased after it answered a renewal. A lease never gets shorter. */
export const leasedUntil = (leasedUntilMs: number, answeredMs: number, leaseMs: number): number =>
  Math.max(leasedUntilMs, answeredMs + leaseMs);

/**
 * Returns until when a restarted home takes a branch for leased. Home doesn't store its leases, so each branch may just
 * have renewed. `leaseMs` is the length of the branch's last lease, which may be from before a new setting.
 */
export const leasedUntilAtStart = (startedMs: number, leaseMs: number): number => startedMs + leaseMs;
