import { and, asc, eq, exists, gt, lt, lte, notExists, or, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Ctx, DatabaseCtx } from '../../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../../db/errors.ts';
import { accounts, appliedFacts, isLive, subscriptions } from '../../db/schema.ts';
import { eventChange } from '../../gate/feed/write.ts';
import { commit } from '../../gate/worker/commit.ts';
import { ownLimits } from '../../shared/config/settings.ts';
import { SYSTEM } from '../../shared/rules/audit.ts';
import { DAY_MS, isoTime } from '../../shared/rules/dates.ts';
import { PLAN_NAMES } from '../../shared/rules/plans.ts';
import { newEvent } from '../../shared/text/events.ts';
import { logError } from '../../shared/text/log.ts';

// Tells the owner before a plan falls, after a cancellation or a failed payment.

/** `plan.ending` is sent so many days before, and within an hour for a plan that is canceled later. */
const DAYS_BEFORE = [3, 1] as const;
const [FIRST_DAYS, LAST_DAYS] = DAYS_BEFORE;

/** The most accounts that a run tells of each day. One takes 13 of the 1,000 queries that D1 allows. */
const MAX_TOLD = 25;

const rankOf = (plan: SQLiteColumn) => {
  const ranks = PLAN_NAMES.map((name, rank) => sql`WHEN ${name} THEN ${rank}`);
  return sql`CASE ${plan} ${sql.join(ranks, sql` `)} ELSE -1 END`;
};

/** Whether the account has less from the end of its plan on. The operator may have granted as much, and for longer. */
const falls = or(
  lt(rankOf(accounts.grantedPlan), rankOf(subscriptions.plan)),
  lte(accounts.grantedUntil, accounts.planUntil),
);

/** Each plan that falls within these days, unless its owner was told so. All of them are to be told: others would fill the run. */
const findEnding = ({ db }: DatabaseCtx, nowMs: number, daysBefore: number, afterMs: number) => {
  const name = sql<string>`'ending:' || ${subscriptions.id} || ':' || ${accounts.planUntil} || ':' || ${daysBefore}`;
  return db
    .select({ account: accounts, subscription: subscriptions, name })
    .from(accounts)
    .innerJoin(subscriptions, and(eq(subscriptions.accountId, accounts.id), isLive))
    .where(
      and(
        gt(accounts.planUntil, nowMs + afterMs),
        lte(accounts.planUntil, nowMs + daysBefore * DAY_MS),
        falls,
        notExists(db.select().from(appliedFacts).where(eq(appliedFacts.name, name))),
      ),
    )
    .orderBy(asc(accounts.planUntil))
    .limit(MAX_TOLD);
};

type Ending = Awaited<ReturnType<typeof findEnding>>[number];

const tell = async (ctx: DatabaseCtx, { account, subscription, name }: Ending): Promise<void> => {
  const { id: accountId, planUntil, email } = account;
  const { id, plan, cancelledAt } = subscription;
  if (planUntil === null) return;
  const nowMs = Date.now();
  const event = newEvent('plan.ending', nowMs, {
    subscription_id: id,
    plan,
    ends_at: isoTime(planUntil),
    days_left: Math.ceil((planUntil - nowMs) / DAY_MS),
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

/** Sends what is due: the scheduled work runs every hour. Returns whether more is due. */
export const tellOfEndingPlans = async (ctx: DatabaseCtx): Promise<boolean> => {
  if (ownLimits(ctx.env)) return false;
  const nowMs = Date.now();
  const due = await Promise.all([
    findEnding(ctx, nowMs, LAST_DAYS, 0),
    findEnding(ctx, nowMs, FIRST_DAYS, LAST_DAYS * DAY_MS),
  ]);
  let told = 0;
  for (const ending of due.flat()) {
    try {
      await tell(ctx, ending);
      told++;
    } catch (error) {
      const isOver =
        violatesNotNull(error, 'applied_facts.name') || violatesUnique(error, 'applied_facts.name');
      if (!isOver) logError('plan_ending_not_told', error, { account_id: ending.account.id });
    }
  }
  return told > 0 && due.some((endings) => endings.length === MAX_TOLD);
};
