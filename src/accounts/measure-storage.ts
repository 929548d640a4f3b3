import { and, asc, eq, gte, isNull, sql } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import { licenseTotals } from '../db/schema.ts';

/** The most accounts in a run. The next run continues. */
const MAX_ACCOUNTS = 200;

/**
 * Counts the bytes of accounts whose bytes are unknown: they are older than the count. A statement for each, because D1 gives
 * a statement 30 seconds. From then on, triggers keep the count. Until then, the account has no limit.
 */
export const measureStorage = async ({ db }: DatabaseCtx): Promise<void> => {
  const unmeasured = await db
    .select({ accountId: licenseTotals.accountId })
    .from(licenseTotals)
    .where(and(isNull(licenseTotals.bytes), gte(licenseTotals.licenses, 0)))
    .orderBy(asc(licenseTotals.licenses))
    .limit(MAX_ACCOUNTS);
  for (const { accountId } of unmeasured) {
    await db
      .update(licenseTotals)
      .set({ bytes: sql`(SELECT stored_bytes.bytes FROM stored_bytes WHERE account_id = ${accountId})` })
      .where(and(eq(licenseTotals.accountId, accountId), isNull(licenseTotals.bytes)));
  }
};
