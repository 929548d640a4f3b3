import { effectivePlan, PLANS } from '../shared/rules/plans.ts';
import type { Copy } from './copy.ts';
import { type Period, periodAt } from './period.ts';

export interface Usage {
  apiUsage: number;
  apiLimit: number;
  period: Period;
}

/** The calls of one period, as far as they are known here. */
export interface PeriodCalls {
  apiUsage: number;
  /** How many more calls may be counted here. */
  remaining: number;
}

export type UsageAt = (nowMs: number) => Usage & PeriodCalls;

/** Returns the account's usage at a time. `callsIn` returns the calls of the period that starts at a time. */
export const openUsage =
  (copy: Pick<Copy, 'account'>, callsIn: (startMs: number, apiLimit: number) => PeriodCalls): UsageAt =>
  (nowMs) => {
    const account = copy.account();
    if (!account) throw new Error('The gate has no copy of its account.');
    const period = periodAt(account, nowMs);
    const { apiLimit } = PLANS[effectivePlan(account, nowMs)];
    return { apiLimit, period, ...callsIn(period.startMs, apiLimit) };
  };
