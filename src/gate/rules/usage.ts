import { addMonths, DAY_MS } from '../../shared/rules/dates.ts';
import { limitsOf, paidPlan, type PlanTerms } from '../../shared/rules/plans.ts';
import type { FeedPosition } from './rows.ts';

// What a gate counts, and what it knows of its account's usage.

export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

/** The last answer, because each call asks for its month. */
let lastMonth: Period = { startMs: 0, endMs: 0 };

/** The UTC calendar month that contains a time. */
export const calendarMonth = (nowMs: number): Period => {
  if (nowMs >= lastMonth.startMs && nowMs < lastMonth.endMs) return lastMonth;
  const now = new Date(nowMs);
  lastMonth = {
    startMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1),
    endMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
  };
  return lastMonth;
};

/** The subscription's current month. If the provider's renewal is late, it is computed from the last known month. */
const subscribedMonth = (startMs: number, endMs: number, nowMs: number): Period => {
  if (nowMs < endMs) return { startMs, endMs };
  // The month from January 31 to February 28 is followed by a month that ends on March 31, so the day comes from the
  // start.
  const usesStartDay = addMonths(startMs, 1) === endMs && addMonths(startMs, 2) > addMonths(endMs, 1);
  const endAfter = (months: number) =>
    usesStartDay ? addMonths(startMs, months + 1) : addMonths(endMs, months);
  let months = 1;
  while (endAfter(months) <= nowMs) months++;
  return { startMs: endAfter(months - 1), endMs: endAfter(months) };
};

/** The subscription's period, or the calendar month without one. */
export const periodAt = (terms: PlanTerms, nowMs: number): Period => {
  const { periodStart, periodEnd, own } = terms;
  const hasOwnPeriod =
    !own && paidPlan(terms, nowMs) !== 'free' && periodStart !== null && periodEnd !== null;
  return hasOwnPeriod ? subscribedMonth(periodStart, periodEnd, nowMs) : calendarMonth(nowMs);
};

export const secondsUntil = (ms: number, nowMs: number) => Math.max(1, Math.ceil((ms - nowMs) / 1_000));

export interface Counter {
  value: number;
  /** When the value last changed. */
  atMs: number;
}

export type CountedCall = 'verify' | 'create';

/** Statistics show the calls of this many days. */
export const USAGE_DAYS = 30;

export interface DayUsage {
  date: string;
  verify: number;
  create: number;
}

export interface ProductUsage {
  code: string;
  calls: number;
}

/** The counters of branches by days and products, each with its value. */
export type BranchCounters = [name: string, value: number][];

export interface Usage {
  apiUsage: number;
  apiLimit: number;
  period: Period;
}

export interface Statistics extends Usage {
  days: DayUsage[];
  /** The period's calls by product. */
  products: ProductUsage[];
  firstValidVerifyMs: number | null;
}

/** The calls of one period, as far as they are known here. */
export interface PeriodCalls {
  apiUsage: number;
  /** How many more calls may be counted here. */
  remaining: number;
}

/** The account's usage limit at a time, and the period that it applies to. */
export const limitAt = (account: PlanTerms, nowMs: number): Pick<Usage, 'apiLimit' | 'period'> => ({
  apiLimit: limitsOf(account, nowMs).apiLimit,
  period: periodAt(account, nowMs),
});

/**
 * The lowest usage limit that applies to the present period up to a time. A plan may end by then, of which nothing is told, and
 * whoever may count calls until then must not go by the larger limit.
 */
export const limitThrough = (account: PlanTerms, nowMs: number, untilMs: number): number => {
  const [now, then] = [limitAt(account, nowMs), limitAt(account, untilMs)];
  return then.period.startMs === now.period.startMs ? Math.min(now.apiLimit, then.apiLimit) : now.apiLimit;
};

/** Calls beyond the usage limit that may still be counted for machines of customers: a quarter of the limit. */
export const marginOf = (apiLimit: number): number => Math.floor(apiLimit / 4);

/** The owner is told when a counted call has reached one of these percentages of the usage limit. */
export type Threshold = 80 | 100 | 125;

/** Returns the highest percentage that the usage has reached. */
export const thresholdOf = ({
  apiUsage,
  apiLimit,
}: Pick<Usage, 'apiUsage' | 'apiLimit'>): Threshold | null => {
  if (apiUsage * 100 < apiLimit * 80) return null;
  if (apiUsage < apiLimit) return 80;
  return apiUsage < apiLimit + marginOf(apiLimit) ? 100 : 125;
};

export type UsageAt = (nowMs: number) => Usage & PeriodCalls;

/**
 * A licensing call that makes a change, as the Worker announces it. Calls with the same claim are repeats, of which at most one
 * is committed.
 */
export interface CountedChange {
  call: CountedCall;
  claim: string | null;
}

/** How much of the day's changes a change takes, and whether it is refused beyond them. */
export interface ChangeSize {
  changes: number;
  isRefusable: boolean;
}

export interface AnnouncementRefusal {
  refused: 'usage_limit_exceeded' | 'rate_limit_exceeded' | 'unavailable';
  retryAfterSeconds: number;
}

/** `position` tells the change's own batch where to read the feed. */
export type Announcement = { refused: null; position: FeedPosition } | AnnouncementRefusal;

/** Refuses a change for which the account has made too many changes on this day. */
export const refuseForToday = (
  account: PlanTerms,
  { changes, isRefusable }: ChangeSize,
  changesToday: number,
  nowMs: number,
): AnnouncementRefusal | null => {
  const { changesPerDay } = limitsOf(account, nowMs);
  if (!isRefusable || changesToday + changes <= changesPerDay) return null;
  const tomorrowMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  return { refused: 'rate_limit_exceeded', retryAfterSeconds: secondsUntil(tomorrowMs, nowMs) };
};
