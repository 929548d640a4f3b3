import { addMonths } from '../shared/rules/dates.ts';
import { effectivePlan, type PlanTerms } from '../shared/rules/plans.ts';

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

/** The subscription's current month. If the provider's renewal is late, later months follow from the last one. */
const subscribedMonth = (startMs: number, endMs: number, nowMs: number): Period => {
  if (nowMs < endMs) return { startMs, endMs };
  // A month that began on the 31st and ended on the last of February is followed by one that ends on March 31:
  // only the start knows the day.
  const usesStartDay = addMonths(startMs, 1) === endMs && addMonths(startMs, 2) > addMonths(endMs, 1);
  const endAfter = (months: number) =>
    usesStartDay ? addMonths(startMs, months + 1) : addMonths(endMs, months);
  let months = 1;
  while (endAfter(months) <= nowMs) months++;
  return { startMs: endAfter(months - 1), endMs: endAfter(months) };
};

/** The subscription's period, or the calendar month on the free plan. */
export const periodAt = (terms: PlanTerms, nowMs: number): Period => {
  const { periodStart, periodEnd } = terms;
  const hasOwn = effectivePlan(terms, nowMs) !== 'free' && periodStart !== null && periodEnd !== null;
  return hasOwn ? subscribedMonth(periodStart, periodEnd, nowMs) : calendarMonth(nowMs);
};

export const secondsUntil = (ms: number, nowMs: number) => Math.max(1, Math.ceil((ms - nowMs) / 1_000));
