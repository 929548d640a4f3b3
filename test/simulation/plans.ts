import { DAY_MS } from '../../src/shared/rules/dates.ts';
import type { Edit } from './machine/load.ts';

// The plans of the simulated account, whose limits are small enough that a schedule of a few minutes reaches them.

const FREE = { apiLimit: 200, callsPerSecond: 10 };
const PRO = { apiLimit: 400, callsPerSecond: 100 };

export const PLAN_SCALE: Edit[] = [
  { file: 'src/shared/rules/plans.ts', find: 'apiLimit: 1_000,', replace: `apiLimit: ${FREE.apiLimit},` },
  { file: 'src/shared/rules/plans.ts', find: 'apiLimit: 100_000,', replace: `apiLimit: ${PRO.apiLimit},` },
];

/**
 * How the account gets a larger plan: by grants that are taken back, by grants that also end by themselves, or by a subscription
 * with a month of its own.
 */
export type Plans = 'grants' | 'briefGrants' | 'upgrade';

const BRIEF_GRANT_MS = 40_000;
/** Clocks are set by no more in all, and run apart by no more. */
const STEPS_MS = 5_000;
const DRIFT = 0.02;

export const openPlans = (plans: Plans, startMs: number) => {
  /** When grants end that may have been made. */
  const endsMs: number[] = [];
  /** Within this time, it isn't known which plan applies. */
  const nearMs = (ms: number) => STEPS_MS + DRIFT * (ms - startMs);

  return {
    /** Returns what the next version of the account sets: a larger plan, or the end of one. */
    next: (nowMs: number): string => {
      if (plans === 'upgrade')
        return `plan = 'pro', period_start = coalesce(period_start, ${nowMs}),
           period_end = coalesce(period_end, ${nowMs + 30 * DAY_MS})`;
      const untilMs = plans === 'briefGrants' ? nowMs + BRIEF_GRANT_MS : null;
      if (untilMs !== null) endsMs.push(untilMs);
      return `granted_plan = iif(granted_plan IS NULL, 'pro', NULL), granted_until = ${untilMs}`;
    },

    /** Returns the plans that a version of the account may have while a call is answered. */
    of: (version: number, fromMs: number, toMs: number) => {
      if (plans === 'upgrade' ? version === 0 : version % 2 === 0) return [FREE];
      if (plans !== 'briefGrants') return [PRO];
      const mayLast = endsMs.some((ms) => fromMs < ms + nearMs(ms));
      const mayHaveEnded = endsMs.some((ms) => toMs > ms - nearMs(ms));
      return [...(mayLast ? [PRO] : []), ...(mayHaveEnded ? [FREE] : [])];
    },
  };
};

export type AccountPlans = ReturnType<typeof openPlans>;
