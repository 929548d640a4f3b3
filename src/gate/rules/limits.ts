import { limitsOf, type PlanTerms } from '../../shared/rules/plans.ts';

// How home divides its account's limits with the branches.

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

/** Merges what the branch reports of all its escrows. Returns the same list if that is nothing new. */
export const mergeReports = (known: Escrow[], reports: Escrow[]): Escrow[] => {
  let escrows = known;
  for (const reported of reports) {
    const { periodStartMs } = reported;
    const before = escrowOf(escrows, periodStartMs) ?? newEscrow(periodStartMs);
    const merged = mergeReport(before, reported);
    if (merged.spent === before.spent && merged.returned === before.returned) continue;
    escrows = [...escrows.filter((escrow) => escrow.periodStartMs !== periodStartMs), merged];
  }
  return escrows;
};

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

// Home and the branches share each rate limit. The sum of the shares in force never exceeds the limit: to home, a share is in
// force until the branch has confirmed a smaller one or its lease has ended. Home raises shares only by what is free.

/** A share as home offers it. Home stores it before the branch learns of it. An offer with a smaller number is outdated. */
export interface ShareOffer {
  number: number;
  /** In the unit of the limit that is shared. Home shares out parts of 1, which apply to each rate limit of the account. */
  perSecond: number;
}

/** What home knows of a branch's share. What is in force is never more than what home has stored of it. */
export interface KnownShare {
  offered: ShareOffer;
  confirmed: ShareOffer;
}

/** Home and branches share all rate limits of an account alike, as parts of a whole. */
export const WHOLE = 1;
/** The part of the limit that home always keeps for calls that it answers itself. */
const HOME_PART = 1 / 8;
/** The part of the branches' pool that is shared equally at least, so that a branch without calls can start. */
const EQUAL_PART = 1 / 4;
/** A branch gets so many times what its calls of late have used. Home keeps the rest, for keys that only call there. */
const HEADROOM = 4;
/** A raise by less than this part of the limit is not worth a message. */
const SMALLEST_STEP = 1 / 32;

/** The part of the rate limits of an account that lets one key make a call each second. */
export const shareOfCall = (account: PlanTerms | null, nowMs: number): number =>
  account ? 1 / limitsOf(account, nowMs).callsPerSecond : 0;

/** The share of a branch that has been offered none yet, or that was restarted. */
export const NO_SHARE: ShareOffer = { number: 0, perSecond: 0 };

export const newShare = (): KnownShare => ({ offered: NO_SHARE, confirmed: NO_SHARE });

/** Returns a branch's share after a message from home. */
export const receiveShare = (known: ShareOffer, offer: ShareOffer): ShareOffer =>
  offer.number < known.number ? known : offer;

/** What home knows after a branch's report. */
export const confirmShare = ({ offered, confirmed }: KnownShare, reported: ShareOffer): KnownShare => ({
  offered,
  confirmed: reported.number > confirmed.number ? reported : confirmed,
});

/**
 * What home knows after a branch's lease has ended. With a new lease, the branch would use its old share again, so the answer
 * to that renewal has an offer with a higher number.
 */
export const endShare = ({ offered, confirmed }: KnownShare): KnownShare => {
  const ended = { number: Math.max(offered.number, confirmed.number) + 1, perSecond: 0 };
  return { offered: ended, confirmed: ended };
};

/** Returns what home knows after it has made the next offer. */
export const offerShare = ({ offered, confirmed }: KnownShare, perSecond: number): KnownShare => ({
  offered: { number: Math.max(offered.number, confirmed.number) + 1, perSecond },
  confirmed,
});

const isConfirmed = ({ offered, confirmed }: KnownShare) => offered.number <= confirmed.number;

/** The most that the branch may allow at present. */
export const inForce = (known: KnownShare): number => {
  const { offered, confirmed } = known;
  return isConfirmed(known) ? confirmed.perSecond : Math.max(offered.perSecond, confirmed.perSecond);
};

const sumInForce = (branches: KnownShare[]): number =>
  branches.reduce((sum, known) => sum + inForce(known), 0);

/** Home's own share: what no branch may allow. */
export const homeShare = (limit: number, branches: KnownShare[]): number =>
  Math.max(limit * HOME_PART, limit - sumInForce(branches));

export interface Demand extends KnownShare {
  /** Calls a second that the branch has received lately, also those that were refused. */
  asked: number;
}

interface HomeDemand {
  askedAtHome: number;
  /** What one call a second takes of the limit. A branch with less could answer hardly any of the calls with one key. */
  perCall: number;
}

/**
 * Returns the share to offer to each branch: what is asked of it, with headroom, scaled down to the limit, but at least one call
 * a second unless there are too many branches. Null where the last offer stays: it isn't confirmed yet, or it is to grow and
 * nothing is free. Home keeps the rest.
 */
export const share = (
  limit: number,
  branches: Demand[],
  { askedAtHome, perCall }: HomeDemand,
): (number | null)[] => {
  const pool = limit * (1 - HOME_PART);
  const allAsked = branches.reduce((sum, { asked }) => sum + asked, askedAtHome);
  const equal = pool / branches.length;
  const least = Math.min(equal, Math.max(equal * EQUAL_PART, perCall));
  const shared = pool - least * branches.length;
  const targetOf = ({ asked }: Demand) => {
    if (asked === 0) return least;
    const wanted = Math.max(least, HEADROOM * asked * perCall);
    return Math.min(wanted, least + shared * (asked / allAsked));
  };
  let free = Math.max(0, pool - sumInForce(branches));
  return branches.map((branch) => {
    const current = inForce(branch);
    if (!isConfirmed(branch)) return null;
    const target = targetOf(branch);
    if (target <= current) return current - target >= limit * SMALLEST_STEP ? target : null;
    const raise = Math.min(target - current, free);
    const isUseful = current + raise >= Math.min(perCall, target);
    if (!isUseful || (raise < limit * SMALLEST_STEP && current >= perCall)) return null;
    free -= raise;
    return current + raise;
  });
};
