import type { SubscriptionRow } from '../../db/schema.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { GRACE_DAYS } from '../../shared/rules/plans.ts';

/** What is known of a subscription. Each is a fact of its own, read from the provider's objects. */
export type SubscriptionFacts = Pick<
  SubscriptionRow,
  'status' | 'failedAt' | 'disputedAt' | 'cancelledAt' | 'endsAt'
>;

/** When the grace period after a failed payment ends. */
export const graceEnd = (failedAt: number): number => failedAt + GRACE_DAYS * DAY_MS;

/** The facts as a status, and until when the account has the plan. Null means that it goes on. */
export const standingOf = ({ status, failedAt, disputedAt, cancelledAt, endsAt }: SubscriptionFacts) => {
  if (status === 'ended') return { status, planUntil: endsAt };
  const ends = [
    ...(failedAt === null ? [] : [graceEnd(failedAt)]),
    ...(disputedAt === null ? [] : [disputedAt]),
    ...(cancelledAt === null || endsAt === null ? [] : [endsAt]),
  ];
  const isUnpaid = failedAt !== null || disputedAt !== null;
  return {
    status:
      cancelledAt !== null ? ('cancelled' as const) : isUnpaid ? ('past_due' as const) : ('active' as const),
    planUntil: ends.length === 0 ? null : Math.min(...ends),
  };
};

/** The subscription with other facts. */
export const withFacts = (row: SubscriptionRow, changes: Partial<SubscriptionRow>): SubscriptionRow => {
  const next = { ...row, ...changes };
  return { ...next, status: standingOf(next).status };
};

/** Whether nothing is overdue or disputed. */
export const isPaidInFull = ({ status, failedAt, disputedAt }: SubscriptionFacts): boolean =>
  status !== 'ended' && failedAt === null && disputedAt === null;
