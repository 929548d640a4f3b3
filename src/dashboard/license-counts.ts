import { and, between, eq, inArray, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { licenseCounts, licenseTotals } from '../db/schema.ts';
import { addDays } from '../shared/rules/dates.ts';
import { LICENSE_STATES, type LicenseStatus } from '../shared/rules/licenses.ts';

// How many licenses an account has in each state. Triggers count active licenses by their last day, so that a license expires
// in the counts without a write, and an account can have a count for every day. So the counts of days that have passed are
// added up now and then, and the active licenses are those that are in no other state.

/** Counts of days that have passed and aren't added up yet. A call reads no more of them, except the one that adds them up. */
const MAX_PAST_DAYS = 31;

const COUNTED_STATES = LICENSE_STATES.filter((state) => state !== 'active');

type CountCtx = Pick<Ctx, 'db' | 'accountId'>;

/** Licenses with one of these statuses whose last day has passed. The empty string stands for no last day. */
const arePast = (accountId: string, statuses: LicenseStatus[], today: string) =>
  and(
    eq(licenseCounts.accountId, accountId),
    inArray(licenseCounts.status, statuses),
    between(licenseCounts.expiresAt, '0', addDays(today, -1)),
  );

/** Statements that read the counts. */
export const selectCounts = ({ db, accountId }: CountCtx, today: string) => {
  const select = () =>
    db.select({ status: licenseCounts.status, licenses: licenseCounts.licenses }).from(licenseCounts);
  return [
    db
      .select({ licenses: licenseTotals.licenses })
      .from(licenseTotals)
      .where(eq(licenseTotals.accountId, accountId)),
    select().where(
      and(eq(licenseCounts.accountId, accountId), inArray(licenseCounts.status, COUNTED_STATES)),
    ),
    select().where(arePast(accountId, ['active'], today)),
  ] as const;
};

type CountRow = Awaited<ReturnType<typeof selectCounts>[1]>[number];

/** Returns the number of licenses in each state from the rows of `selectCounts`. */
export const countByState = (total: number, counted: CountRow[], past: CountRow[]) => {
  const counts = Object.fromEntries(LICENSE_STATES.map((state) => [state, 0])) as Record<
    LicenseStatus,
    number
  >;
  for (const { status, licenses } of counted) counts[status] += licenses;
  for (const { licenses } of past) counts.expired += licenses;
  const others = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { total, ...counts, active: total - others };
};

/** Adds up the counts of days that have passed, in a row with the first day that it doesn't include. */
export const addUpPastDays = async ({ db, accountId }: CountCtx, today: string, past: CountRow[]) => {
  if (past.length <= MAX_PAST_DAYS) return;
  const isPast = arePast(accountId, ['active', 'expired'], today);
  await db.batch([
    db
      .insert(licenseCounts)
      .select(
        sql`SELECT account_id, 'expired', ${today}, sum(licenses) FROM license_counts WHERE ${isPast} GROUP BY account_id`,
      )
      .onConflictDoUpdate({
        target: [licenseCounts.accountId, licenseCounts.status, licenseCounts.expiresAt],
        set: { licenses: sql`${licenseCounts.licenses} + excluded.licenses` },
      }),
    db.delete(licenseCounts).where(isPast),
  ]);
};
