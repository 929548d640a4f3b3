import { type SQL, sql } from 'drizzle-orm';
import { type Plan, PLAN_NAMES, PLANS } from '../shared/rules/plans.ts';

/** A limit in a query of `accounts`: that of the better one of the paid and the granted plan, as in `effectivePlan`. */
export const planLimit = (limit: keyof Plan, nowMs: number): SQL<number> => {
  const byPlan = sql.join(
    PLAN_NAMES.map((name) => sql`WHEN ${name} THEN ${PLANS[name][limit]}`),
    sql` `,
  );
  return sql<number>`max(
    CASE CASE WHEN plan_until <= ${nowMs} THEN 'free' ELSE plan END ${byPlan} END,
    CASE CASE WHEN granted_until <= ${nowMs} THEN 'free' ELSE granted_plan END ${byPlan} ELSE 0 END
  )`;
};
