import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calendarMonth, periodAt } from '../../src/gate/rules/usage.ts';
import { addMonths, DAY_MS } from '../../src/shared/rules/dates.ts';
import { formatMoney } from '../../src/shared/rules/money.ts';
import { effectivePlan, PAID_PLANS, PLAN_NAMES, type PlanTerms } from '../../src/shared/rules/plans.ts';

const SEED = { seed: 20_261_121, numRuns: 1_000 };

const FROM_MS = Date.UTC(2020, 0, 1);
const TO_MS = Date.UTC(2040, 0, 1);

const NO_GRANT = { grantedPlan: null, grantedUntil: null, own: null };

const instant = fc.integer({ min: FROM_MS, max: TO_MS });
const months = fc.integer({ min: 0, max: 60 });
const paidTerms = fc
  .record({ plan: fc.constantFrom(...PAID_PLANS), startMs: instant })
  .map(({ plan, startMs }): PlanTerms => ({
    plan,
    periodStart: startMs,
    periodEnd: addMonths(startMs, 1),
    planUntil: null,
    ...NO_GRANT,
  }));

const monthOf = (ms: number) => new Date(ms).getUTCFullYear() * 12 + new Date(ms).getUTCMonth();
const dayOf = (ms: number) => new Date(ms).getUTCDate();

test('addMonths keeps the time of day and moves a day past the month’s end to its last day', () => {
  fc.assert(
    fc.property(instant, months, (ms, count) => {
      const later = addMonths(ms, count);
      expect(monthOf(later)).toBe(monthOf(ms) + count);
      expect(later % DAY_MS).toBe(ms % DAY_MS);
      const isLastDay = dayOf(later + DAY_MS) === 1;
      expect(dayOf(later) === dayOf(ms) || (isLastDay && dayOf(later) < dayOf(ms))).toBe(true);
    }),
    SEED,
  );
});

test('adding more months gives a later time', () => {
  fc.assert(
    fc.property(instant, months, (ms, count) => {
      expect(addMonths(ms, count + 1)).toBeGreaterThan(addMonths(ms, count));
    }),
    SEED,
  );
});

test.for([
  ['2027-01-31T10:00:00.000Z', 1, '2027-02-28T10:00:00.000Z'],
  ['2028-01-31T10:00:00.000Z', 1, '2028-02-29T10:00:00.000Z'],
  ['2027-12-31T23:59:59.999Z', 2, '2028-02-29T23:59:59.999Z'],
  ['2027-03-31T00:00:00.000Z', 1, '2027-04-30T00:00:00.000Z'],
  ['2027-12-15T00:00:00.000Z', 1, '2028-01-15T00:00:00.000Z'],
] as const)('%s plus %i month(s) is %s', ([from, count, to]) => {
  expect(new Date(addMonths(Date.parse(from), count)).toISOString()).toBe(to);
});

test('a paid plan applies until its end, and the free plan applies afterwards', () => {
  const plan = fc.constantFrom(...PLAN_NAMES);
  fc.assert(
    fc.property(plan, instant, instant, (paidPlan, untilMs, nowMs) => {
      expect(effectivePlan({ plan: paidPlan, planUntil: null, ...NO_GRANT }, nowMs)).toBe(paidPlan);
      expect(effectivePlan({ plan: paidPlan, planUntil: untilMs, ...NO_GRANT }, nowMs)).toBe(
        nowMs < untilMs ? paidPlan : 'free',
      );
      expect(effectivePlan({ plan: paidPlan, planUntil: untilMs, ...NO_GRANT }, untilMs)).toBe('free');
    }),
    SEED,
  );
});

test('subscription periods last one month, follow each other without a gap and contain the given time', () => {
  fc.assert(
    fc.property(paidTerms, fc.integer({ min: 0, max: 3 * 365 * DAY_MS }), (terms, afterMs) => {
      const nowMs = (terms.periodStart ?? 0) + afterMs;
      const { startMs, endMs } = periodAt(terms, nowMs);
      expect(startMs <= nowMs && nowMs < endMs).toBe(true);
      expect(endMs - startMs).toBeGreaterThanOrEqual(28 * DAY_MS);
      expect(endMs - startMs).toBeLessThanOrEqual(31 * DAY_MS);
      // Every instant within a period gives the same period, and the next period starts at its end.
      expect(periodAt(terms, startMs)).toEqual({ startMs, endMs });
      expect(periodAt(terms, endMs - 1)).toEqual({ startMs, endMs });
      expect(periodAt(terms, endMs).startMs).toBe(endMs);
      expect(monthOf(endMs)).toBe(monthOf(startMs) + 1);
    }),
    SEED,
  );
});

test('a late renewal keeps the period in which usage is already counted', () => {
  fc.assert(
    fc.property(paidTerms, instant, (terms, sinceMs) => {
      const start = terms.periodStart ?? 0;
      const renewed = { ...terms, periodStart: addMonths(start, 1), periodEnd: addMonths(start, 2) };
      const nowMs = renewed.periodStart + (sinceMs % (27 * DAY_MS));
      expect(periodAt(terms, nowMs)).toEqual(periodAt(renewed, nowMs));
    }),
    SEED,
  );
});

test('without a current paid plan, the period is the calendar month', () => {
  fc.assert(
    fc.property(paidTerms, instant, (terms, nowMs) => {
      const { startMs, endMs } = calendarMonth(nowMs);
      expect(startMs <= nowMs && nowMs < endMs).toBe(true);
      expect([dayOf(startMs), startMs % DAY_MS, endMs]).toEqual([1, 0, addMonths(startMs, 1)]);
      expect(periodAt({ ...terms, plan: 'free' }, nowMs)).toEqual({ startMs, endMs });
      expect(periodAt({ ...terms, planUntil: nowMs }, nowMs)).toEqual({ startMs, endMs });
      expect(periodAt({ ...terms, periodStart: null, periodEnd: null }, nowMs)).toEqual({ startMs, endMs });
    }),
    SEED,
  );
});

test.for([
  [2_900, 'usd', '$29'],
  [2_950, 'usd', '$29.50'],
  [2_900, 'jpy', '¥2,900'],
  [290_000, 'isk', 'ISK 2,900'],
  [29_500, 'kwd', 'KWD 29.500'],
] as const)('%i minor units of %s are %s', ([minorUnits, currency, shown]) => {
  expect(formatMoney(minorUnits, currency).replace(/\s/u, ' ')).toBe(shown);
});
