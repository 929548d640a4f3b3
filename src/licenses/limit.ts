import { sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { PLAN_NAMES, PLANS } from '../shared/rules/plans.ts';

const LIMIT_BY_PLAN = sql.join(
  PLAN_NAMES.map((name) => sql`WHEN ${name} THEN ${PLANS[name].licenseLimit}`),
  sql` `,
);

/** The limit of the better one of the paid and the granted plan, as in `effectivePlan`. */
const limitAt = (nowMs: number) => sql`max(
  CASE CASE WHEN plan_until <= ${nowMs} THEN 'free' ELSE plan END ${LIMIT_BY_PLAN} END,
  CASE CASE WHEN granted_until <= ${nowMs} THEN 'free' ELSE granted_plan END ${LIMIT_BY_PLAN} ELSE 0 END
)`;

/** How many more licenses the account's plan allows. */
export const roomForLicenses = ({ accountId }: Pick<Ctx, 'accountId'>, nowMs: number) => sql<number>`(
  SELECT ${limitAt(nowMs)} - coalesce(license_totals.licenses, 0)
  FROM accounts LEFT JOIN license_totals ON license_totals.account_id = accounts.id WHERE accounts.id = ${accountId}
)`;

/**
 * The account's id while its plan allows another license, and null after that, which the column refuses. D1 evaluates it
 * in the create's own batch, so that parallel creates can't exceed the limit.
 */
export const accountWithRoom = (ctx: Ctx, nowMs: number) =>
  sql<string>`iif(${roomForLicenses(ctx, nowMs)} > 0, ${ctx.accountId}, NULL)`;
