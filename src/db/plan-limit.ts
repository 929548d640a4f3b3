import { type SQL, sql } from 'drizzle-orm';
import { ownLimits } from '../shared/config/settings.ts';
import { type Limits, PLAN_NAMES, PLANS } from '../shared/rules/plans.ts';

/** A limit in a query of `accounts`, as `limitsOf` has it: that of the better one of the paid and the granted plan. */
export const planLimit = (env: Env, limit: keyof Limits, nowMs: number): SQL<number> => {
  const own = ownLimits(env);
  if (own) return sql<number>`${own[limit]}`;
  const byPlan = sql.join(
    PLAN_NAMES.map((name) => sql`WHEN ${name} THEN ${PLANS[name][limit]}`),
    sql` `,
  );
  return sql<number>`max(
    CASE CASE WHEN plan_until <= ${nowMs} THEN 'free' ELSE plan END ${byPlan} END,
    CASE CASE WHEN granted_until <= ${nowMs} THEN 'free' ELSE granted_plan END ${byPlan} ELSE 0 END
  )`;
};
