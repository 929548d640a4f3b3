import { effectivePlan, PLANS } from '../../shared/rules/plans.ts';
import type { Copy } from '../home/copy.ts';
import { periodAt } from '../rules/period.ts';
import type { PeriodCalls, UsageAt } from '../rules/usage.ts';

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
