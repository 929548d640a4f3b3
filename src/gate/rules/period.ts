import { addMonths } from '../../shared/rules/dates.ts';
import { paidPlan, type PlanTerms } from '../../shared/rules/plans.ts';

export interface Period {
  startMs: number;
  endMs: number;
}

/** The UTC calendar month that contains a time. */
export const calendarMonth = (nowMs: number): Period => {
  const now = new Date(nowMs);
  return {
    startMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1),
    endMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
  };
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
  const { periodStart, periodEnd } = terms;
  const hasOwnPeriod = paidPlan(terms, nowMs) !== 'free' && periodStart !== null && periodEnd !== null;
  return hasOwnPeriod ? subscribedMonth(periodStart, periodEnd, nowMs) : calendarMonth(nowMs);
};

export const secondsUntil = (ms: number, nowMs: number) => Math.max(1, Math.ceil((ms - nowMs) / 1_000));
