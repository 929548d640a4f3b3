import { and, asc, gte, isNull, sql } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { licenseTotals } from '../db/schema.ts';

/** The most accounts in a run. The next run continues. */
const MAX_ACCOUNTS = 5_000;
/** The most accounts in a statement, and their licenses, unless it is one account: D1 gives a statement 30 seconds. */
const MAX_IN_STATEMENT = 100;
const MAX_LICENSES = 50_000;
/** The most statements in a run, each of which takes two of the 1,000 queries that D1 allows. */
const MAX_STATEMENTS = 300;

/** Accounts come in the order of their licenses. */
const inGroups = (found: { accountId: string; licenses: number }[]): string[][] => {
  const groups: string[][] = [];
  for (const { accountId, licenses } of found) {
    const last = groups.at(-1);
    if (last && last.length < Math.min(MAX_IN_STATEMENT, MAX_LICENSES / licenses)) last.push(accountId);
    else groups.push([accountId]);
  }
  return groups;
};

/**
 * Counts the bytes of accounts whose bytes are unknown: they are older than the count. From then on, triggers keep the count.
 * Until then, the account has no limit.
 */
export const measureStorage = async ({ db }: DatabaseCtx): Promise<void> => {
  const { accountId, licenses, bytes } = licenseTotals;
  const unmeasured = await db
    .select({ accountId, licenses })
    .from(licenseTotals)
    .where(and(isNull(bytes), gte(licenses, 0)))
    .orderBy(asc(licenses))
    .limit(MAX_ACCOUNTS);
  for (const group of inGroups(unmeasured).slice(0, MAX_STATEMENTS)) {
    await db
      .update(licenseTotals)
      .set({
        bytes: sql`(SELECT stored.bytes FROM stored_bytes AS stored WHERE stored.account_id = license_totals.account_id)`,
      })
      .where(and(isNull(bytes), sql`${accountId} ${inJson(group)}`));
  }
};
