import { effectivePlan, PLANS, type PlanTerms } from '../../shared/rules/plans.ts';

// A key's rate limit is shared by its home and the branches. The sum of the shares in force never passes the limit: home
// takes a share for in force until the branch has confirmed a smaller one or its lease has ended, and raises shares only by
// what is free.

/** A share as home offers it. Offers of an earlier start of home (`term`) or with a smaller number are outdated. */
export interface ShareOffer {
  term: number;
  number: number;
  /** In the unit of the limit that is shared. Home shares out parts of 1, which apply to each rate limit of the account. */
  perSecond: number;
}

/** What home knows of a branch's share. It is kept in memory only. */
export interface KnownShare {
  /** The last offer, or null if home has not offered anything since its start. */
  offered: ShareOffer | null;
  /**
   * What the branch has confirmed, null if home can't know what is in force: after its start, until the branch has reported in
   * this term or its lease has ended.
   */
  confirmed: { number: number; perSecond: number } | null;
}

/** The part of the limit that home always keeps for calls that it answers itself. */
const HOME_PART = 1 / 8;
/** The part of the branches' pool that is shared equally at least, so that a branch without calls can start. */
const EQUAL_PART = 1 / 4;
/** With less than this, a branch could answer hardly any of the calls with one key. */
const SMALLEST_PER_SECOND = 1;
/** A raise by less than this part of the limit is not worth a message. */
const SMALLEST_STEP = 1 / 32;

/** Returns the smallest useful part of the rate limits of an account. */
export const smallestShare = (account: PlanTerms | null, nowMs: number): number =>
  account ? SMALLEST_PER_SECOND / PLANS[effectivePlan(account, nowMs)].callsPerSecond : 0;

const isOutdated = (offer: ShareOffer, known: ShareOffer) =>
  offer.term < known.term || (offer.term === known.term && offer.number < known.number);

/**
 * Returns a branch's share after a message from home. It confirms home's present term even without an offer, so that home
 * learns what is in force. A branch that was restarted has none.
 */
export const receiveShare = (
  known: ShareOffer | null,
  term: number,
  offer: ShareOffer | null,
): ShareOffer | null => {
  const latest = offer && (known === null || !isOutdated(offer, known)) ? offer : known;
  return latest === null || term > latest.term
    ? { term, number: 0, perSecond: latest?.perSecond ?? 0 }
    : latest;
};

/**
 * Returns a branch's share when its lease has ended. Home may have given the share away since, and a home that was restarted
 * doesn't know about it, so the next lease starts with nothing but what its answer offers.
 */
export const expireShare = (known: ShareOffer | null): ShareOffer | null =>
  known && { ...known, perSecond: 0 };

/**
 * What home knows after a branch's report. A report from an earlier term may be followed by offers of that term. A branch
 * without a lease reports no share, but takes the offer up again with its next lease.
 */
export const confirmShare = (known: KnownShare, reported: ShareOffer | null, term: number): KnownShare => {
  if (reported?.term !== term) return known;
  const { offered, confirmed } = known;
  const { number } = reported;
  if (confirmed && confirmed.number >= number) return known;
  const perSecond = offered?.number === number ? offered.perSecond : reported.perSecond;
  return { offered, confirmed: { number, perSecond } };
};

/**
 * What home knows after a branch's lease has ended. A new lease comes with a new offer, so nothing is in force until then,
 * but an offer that is under way must never be mistaken for the next one.
 */
export const endShare = (known: KnownShare, term: number): KnownShare => {
  const number = (known.offered?.number ?? 0) + 1;
  return { offered: { term, number, perSecond: 0 }, confirmed: { number, perSecond: 0 } };
};

/** The most that the branch may allow at present, or null if home can't know. */
export const inForce = ({ offered, confirmed }: KnownShare): number | null => {
  if (!confirmed) return null;
  return offered && offered.number > confirmed.number
    ? Math.max(offered.perSecond, confirmed.perSecond)
    : confirmed.perSecond;
};

const sumInForce = (branches: KnownShare[]): number | null => {
  let sum = 0;
  for (const known of branches) {
    const perSecond = inForce(known);
    if (perSecond === null) return null;
    sum += perSecond;
  }
  return sum;
};

/** Home's own share: what no branch may allow. While home can't know, it is the part that is never given away. */
export const homeShare = (limit: number, branches: KnownShare[]): number => {
  const sum = sumInForce(branches);
  return sum === null ? limit * HOME_PART : limit - sum;
};

export interface Demand extends KnownShare {
  /** Calls with the key that the branch has received lately, also those that it refused. */
  usedLately: number;
}

/**
 * Returns the shares to offer, in the order of the branches, with null where the last offer stays. A branch that has not
 * confirmed its last offer gets no other. Decreases are offered at once, and increases only from what is free by then.
 * Home keeps the part that its own calls need. No branch gets less than `smallest`, unless there are too many branches.
 */
export const share = (
  limit: number,
  branches: Demand[],
  { usedAtHome = 0, smallest = 0 } = {},
): (number | null)[] => {
  const pool = limit * (1 - HOME_PART);
  const allUsed = branches.reduce((sum, { usedLately }) => sum + usedLately, usedAtHome);
  const equal = pool / branches.length;
  const least = Math.min(equal, Math.max(equal * EQUAL_PART, smallest));
  const shared = pool - least * branches.length;
  const targetOf = ({ usedLately }: Demand) =>
    allUsed === 0 ? equal : least + shared * (usedLately / allUsed);
  const sum = sumInForce(branches);
  let free = sum === null ? 0 : Math.max(0, pool - sum);
  return branches.map((branch) => {
    const current = inForce(branch);
    if (current === null) return null;
    if (branch.offered && branch.offered.number > (branch.confirmed?.number ?? 0)) return null;
    const target = targetOf(branch);
    if (target <= current) return current - target >= limit * SMALLEST_STEP ? target : null;
    const raise = Math.min(target - current, free);
    const isUseful = current + raise >= Math.min(smallest, target);
    if (!isUseful || (raise < limit * SMALLEST_STEP && current >= smallest)) return null;
    free -= raise;
    return current + raise;
  });
};
