// The usage limit is exact although branches count by themselves: home grants a branch a part of what remains of the limit,
// and from then on treats it as spent. All numbers of an escrow only grow, so a message that is late or repeated changes
// nothing.

/** What one branch was granted in one period. Home stores it before the branch learns of it, and the branch stores its own. */
export interface Escrow {
  periodStartMs: number;
  /** Decided by home. */
  granted: number;
  /** Calls that the branch has counted. */
  spent: number;
  /** Calls that the branch has given back, and won't count any more. */
  returned: number;
}

export const newEscrow = (periodStartMs: number): Escrow => ({
  periodStartMs,
  granted: 0,
  spent: 0,
  returned: 0,
});

/** The calls that home must treat as spent. */
export const exposure = ({ granted, returned }: Escrow): number => granted - returned;

/** The calls that a branch may still count in a period. A grant for another period is worth nothing. */
export const unspent = (escrow: Escrow | undefined, periodStartMs: number): number =>
  escrow?.periodStartMs === periodStartMs ? escrow.granted - escrow.spent - escrow.returned : 0;

export const escrowOf = <E extends Escrow>(escrows: E[], periodStartMs: number): E | undefined =>
  escrows.find((escrow) => escrow.periodStartMs === periodStartMs);

/** Merges what the branch reports into home's record. Home alone decides what is granted. */
export const mergeReport = (known: Escrow, reported: Escrow): Escrow => ({
  ...known,
  spent: Math.max(known.spent, reported.spent),
  returned: Math.max(known.returned, reported.returned),
});

/** Merges home's grant into the branch's escrow. */
export const receiveGrant = (escrow: Escrow, granted: number): Escrow => ({
  ...escrow,
  granted: Math.max(escrow.granted, granted),
});

/** Gives everything back that the branch has not spent. */
export const giveBack = (escrow: Escrow): Escrow => ({
  ...escrow,
  returned: escrow.granted - escrow.spent,
});

export interface Quota {
  limit: number;
  /** Calls that home has counted itself, in the period of the escrows. */
  counted: number;
  /** The escrows of all branches in this period. */
  escrows: Escrow[];
}

/** What remains of the limit for home to count or to grant. */
export const remaining = ({ limit, counted, escrows }: Quota): number =>
  limit - counted - escrows.reduce((sum, escrow) => sum + exposure(escrow), 0);

/** A branch can't know how many calls will come, so a new one gets enough for the first seconds. */
const FIRST_GRANT = 20;
/** Smaller grants than this are used up within a round trip. Near the limit, home counts every call itself. */
const SMALLEST_GRANT = 8;
/** No branch holds more than this part of its equal share of what remains, so that the others find something, too. */
const SHARE_DIVISOR = 4;

/**
 * Returns how many calls home grants a branch on top of what it has: as many as it used in two leases, and at most a
 * quarter of an equal share of what remains. `escrow` is among the quota's escrows.
 */
export const grant = (quota: Quota, escrow: Escrow, usedLately: number): number => {
  const left = unspent(escrow, escrow.periodStartMs);
  const most = Math.floor((remaining(quota) + left) / (SHARE_DIVISOR * quota.escrows.length));
  if (most < SMALLEST_GRANT) return 0;
  return Math.max(0, Math.min(Math.max(usedLately, FIRST_GRANT), most) - left);
};

/** Whether a branch asks for more before its lease is due. `usedLately` is its use in one interval between renewals. */
export const isRunningLow = (left: number, usedLately: number): boolean =>
  left < Math.max(usedLately, FIRST_GRANT) / 2;

/** Whether home has to call grants back before it may refuse a call. `escrow` is as last reported. */
export const isRecallable = (escrow: Escrow): boolean => unspent(escrow, escrow.periodStartMs) > 0;

/** The calls that home and other branches than this one have counted, as far as home knows. */
export const usedByOthers = ({ counted, escrows }: Quota, escrow: Escrow | undefined): number =>
  counted + escrows.reduce((sum, other) => (other === escrow ? sum : sum + other.spent), 0);
