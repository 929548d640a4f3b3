/** What an account may do. */
export interface Limits {
  /** Licensing calls per period. */
  apiLimit: number;
  /** Calls per second of each API key. A burst can use two seconds' worth at once. */
  callsPerSecond: number;
  /** Calls per second of all API keys of an account together, with bursts as for one key. */
  accountCallsPerSecond: number;
  /** Licenses that the account may hold, whatever their status. */
  licenseLimit: number;
  /** Bytes that the account may store in D1. */
  storageBytes: number;
  /** Changes of licenses, products, API keys, and the like that the account may make in a day (UTC). */
  changesPerDay: number;
}

export interface Plan extends Limits {
  /** Per month, in minor units. */
  amount: number;
}

export const PLAN_NAMES = ['free', 'pro', 'scale'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export const PAID_PLANS = ['pro', 'scale'] as const;
export type PaidPlan = (typeof PAID_PLANS)[number];

/** The plan of every account of a service that sells none. Its limits are the operator's. */
export const OWN_PLAN = 'own';
export const ACCOUNT_PLANS = [...PLAN_NAMES, OWN_PLAN] as const;
export type AccountPlan = (typeof ACCOUNT_PLANS)[number];

export const CURRENCY = 'usd';

export const PLANS: Record<PlanName, Plan> = {
  free: {
    apiLimit: 1_000,
    callsPerSecond: 10,
    accountCallsPerSecond: 25,
    licenseLimit: 10_000,
    storageBytes: 100_000_000,
    changesPerDay: 50_000,
    amount: 0,
  },
  pro: {
    apiLimit: 100_000,
    callsPerSecond: 100,
    accountCallsPerSecond: 250,
    licenseLimit: 200_000,
    storageBytes: 1_000_000_000,
    changesPerDay: 1_000_000,
    amount: 29_00,
  },
  scale: {
    apiLimit: 5_000_000,
    callsPerSecond: 1_000,
    accountCallsPerSecond: 1_000,
    licenseLimit: 5_000_000,
    storageBytes: 8_000_000_000,
    changesPerDay: 10_000_000,
    amount: 199_00,
  },
};

/** The limits of `own`, unless the operator sets others. The rates are as fast as an account's gate can be. */
export const OWN_LIMITS: Limits = {
  ...PLANS.scale,
  apiLimit: 1_000_000_000,
  storageBytes: 100_000_000_000,
};

/** After a failed payment, the paid limits apply for so many more days. */
export const GRACE_DAYS = 7;

/** What an account has paid for or was granted, and until when. */
export interface PlanTerms {
  plan: PlanName;
  /** The subscription's current period. */
  periodStart: number | null;
  periodEnd: number | null;
  /** The account pays for no plan from this time on, after a cancellation or an unpaid renewal. */
  planUntil: number | null;
  /** A plan that the operator grants without payment. */
  grantedPlan: PlanName | null;
  /** Null for a grant without an end. */
  grantedUntil: number | null;
  /** What all accounts may do where no plans are sold. Null where plans are sold. */
  own: Limits | null;
}

type Paid = Pick<PlanTerms, 'plan' | 'planUntil'>;
type Granted = Pick<PlanTerms, 'grantedPlan' | 'grantedUntil'>;
export type PlanOfAccount = Paid & Granted & Pick<PlanTerms, 'own'>;

/** What the account has paid for now. */
export const paidPlan = ({ plan, planUntil }: Paid, nowMs: number): PlanName =>
  planUntil !== null && nowMs >= planUntil ? 'free' : plan;

const grantedPlan = ({ grantedPlan: plan, grantedUntil: until }: Granted, nowMs: number): PlanName =>
  plan !== null && (until === null || nowMs < until) ? plan : 'free';

/** The better one of the paid and the granted plan, where plans are sold. */
export const soldPlan = (terms: Paid & Granted, nowMs: number): PlanName => {
  const paid = paidPlan(terms, nowMs);
  const granted = grantedPlan(terms, nowMs);
  return PLAN_NAMES.indexOf(granted) > PLAN_NAMES.indexOf(paid) ? granted : paid;
};

export const effectivePlan = (terms: PlanOfAccount, nowMs: number): AccountPlan =>
  terms.own ? OWN_PLAN : soldPlan(terms, nowMs);

export const limitsOf = (terms: PlanOfAccount, nowMs: number): Limits =>
  terms.own ?? PLANS[soldPlan(terms, nowMs)];

/** An account whose email address was never proved may store one such part of what it may otherwise. */
export const UNVERIFIED_SHARE = 10;

/**
 * What is renewed or changed without taking more space, in an account that stores as much as it may, counts as so many changes
 * of the day: each still adds to the history and to the audit log.
 */
export const CHANGES_WHEN_FULL = 50;

/** Machines may take one such part of it: they are stored in the account's gate, beside its copy of everything else. */
export const MACHINES_SHARE = 2;

/** How many bytes the account may store now. */
export const storageLimit = (account: PlanOfAccount & { isUnverified: boolean }, nowMs: number): number =>
  limitsOf(account, nowMs).storageBytes / (account.isUnverified ? UNVERIFIED_SHARE : 1);
