import { DAY_MS } from '../../shared/rules/dates.ts';
import { effectivePlan, PLANS, type PlanTerms } from '../../shared/rules/plans.ts';
import type { AnnouncementRefusal, ChangeSize } from './rows.ts';
import { secondsUntil } from './usage.ts';

/** Refuses a change for which the account has made too many changes on this day. */
export const refuseForToday = (
  account: PlanTerms,
  { changes, isRefusable }: ChangeSize,
  changesToday: number,
  nowMs: number,
): AnnouncementRefusal | null => {
  const { changesPerDay } = PLANS[effectivePlan(account, nowMs)];
  if (!isRefusable || changesToday + changes <= changesPerDay) return null;
  const tomorrowMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  return { refused: 'rate_limit_exceeded', retryAfterSeconds: secondsUntil(tomorrowMs, nowMs) };
};
