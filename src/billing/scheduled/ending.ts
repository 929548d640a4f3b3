import { and, asc, eq, exists, gt, lte, notExists, sql } from 'drizzle-orm';
import type { Ctx, DatabaseCtx } from '../../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../../db/errors.ts';
import { accounts, appliedFacts, isLive, subscriptions } from '../../db/schema.ts';
import { eventChange } from '../../gate/feed/write.ts';
import { commit } from '../../gate/worker/commit.ts';
import { ownLimits } from '../../shared/config/settings.ts';
import { SYSTEM } from '../../shared/rules/audit.ts';
import { DAY_MS, isoTime } from '../../shared/rules/dates.ts';
import { PLAN_NAMES, type PlanName, soldPlan } from '../../shared/rules/plans.ts';
import { newEvent } from '../../shared/text/events.ts';
import { logError } from '../../shared/text/log.ts';

// Tells the owner before a plan falls, after a cancellation or a failed payment.

/** `plan.ending` is sent so many days before. */
const DAYS_BEFORE = [3, 1] as const;
const [FIRST_DAYS, LAST_DAYS] = DAYS_BEFORE;

/** The most accounts that a run tells. The next run continues. */
const MAX_TOLD = 200;

/** Each plan that falls within these days, unless its owner was told so. */
const findEnding = ({ db }: DatabaseCtx, nowMs: number, daysLeft: number, afterMs: number) => {
  const name = sql<string>`'ending:' || ${subscriptions.id} || ':' || ${accounts.planUntil} || ':' || ${daysLeft}`;
  return db
    .select({ account: accounts, subscription: subscriptions, name, daysLeft: sql<number>`${daysLeft}` })
    .from(accounts)
    .innerJoin(subscriptions, and(eq(subscriptions.accountId, accounts.id), isLive))
    .where(
      and(
        gt(accounts.planUntil, nowMs + afterMs),
        lte(accounts.planUntil, nowMs + daysLeft * DAY_MS),
        notExists(db.select().from(appliedFacts).where(eq(appliedFacts.name, name))),
      ),
    )
    .orderBy(asc(accounts.planUntil))
    .limit(MAX_TOLD);
};

type Ending = Awaited<ReturnType<typeof findEnding>>[number];

const isAtLeast = (one: PlanName, other: PlanName) => PLAN_NAMES.indexOf(one) >= PLAN_NAMES.indexOf(other);

const tell = async (ctx: DatabaseCtx, { account, subscription, name, daysLeft }: Ending): Promise<void> => {
  const { id: accountId, planUntil, email } = account;
  const { id, plan, cancelledAt } = subscription;
  // The operator may have granted the plan.
  if (planUntil === null || isAtLeast(soldPlan(account, planUntil), plan)) return;
  const nowMs = Date.now();
  const event = newEvent('plan.ending', nowMs, {
    subscription_id: id,
    plan,
    ends_at: isoTime(planUntil),
    days_left: daysLeft,
    reason: cancelledAt === null ? 'payment_failed' : 'cancelled',
    customer_email: email,
  });
  const isEnding = exists(
    ctx.db
      .select({ id: accounts.id })
      .from(accounts)
      .where(and(eq(accounts.id, accountId), eq(accounts.planUntil, planUntil))),
  );
  const owner: Ctx = { ...ctx, accountId, key: null, actor: SYSTEM, ip: null };
  // The name is null if the plan goes on in the meantime, which the column refuses.
  const nameIfTrue = sql<string>`iif(${isEnding}, ${name}, NULL)`;
  await commit(
    owner,
    [ctx.db.insert(appliedFacts).values({ name: nameIfTrue, appliedAt: nowMs })],
    [eventChange(event)],
  );
};

/** Sends what is due: the scheduled work runs every hour. */
export const tellOfEndingPlans = async (ctx: DatabaseCtx): Promise<void> => {
  if (ownLimits(ctx.env)) return;
  const nowMs = Date.now();
  const due = await Promise.all([
    findEnding(ctx, nowMs, LAST_DAYS, 0),
    findEnding(ctx, nowMs, FIRST_DAYS, LAST_DAYS * DAY_MS),
  ]);
  for (const ending of due.flat()) {
    try {
      await tell(ctx, ending);
    } catch (error) {
      const isOver =
        violatesNotNull(error, 'applied_facts.name') || violatesUnique(error, 'applied_facts.name');
      if (!isOver) logError('plan_ending_not_told', error, { account_id: ending.account.id });
    }
  }
};
