import { sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { planLimit } from '../db/plan-limit.ts';

/** How many more licenses the account may have. */
export const roomForLicenses = (
  { env, accountId }: Pick<Ctx, 'env' | 'accountId'>,
  nowMs: number,
) => sql<number>`(
  SELECT ${planLimit(env, 'licenseLimit', nowMs)} - coalesce(license_totals.licenses, 0)
  FROM accounts LEFT JOIN license_totals ON license_totals.account_id = accounts.id WHERE accounts.id = ${accountId}
)`;

/**
 * The account's id while it may have another license, and null after that, which the column refuses. D1 evaluates it
 * in the create's own batch, so that parallel creates can't exceed the limit.
 */
export const accountWithRoom = (ctx: Ctx, nowMs: number) =>
  sql<string>`iif(${roomForLicenses(ctx, nowMs)} > 0, ${ctx.accountId}, NULL)`;
