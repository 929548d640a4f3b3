import { and, asc, inArray, lt } from 'drizzle-orm';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { appliedFacts, isUnpaid, payments } from '../../db/schema.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';

/** A checkout is payable for a day at most, and a subscription that it began would be reported every month. */
const KEEP_UNPAID_MS = 90 * DAY_MS;

/**
 * Stripe repeats a notification for three days and keeps it for 30. An older fact can still be in the current state
 * of a subscription, but the payment or subscription row then shows that it has been applied.
 */
const KEEP_FACTS_MS = 366 * DAY_MS;

/** The most rows of each table that one run deletes. The next run continues. */
const MAX_ROWS = 500;

/** Deletes old payments whose checkout was replaced or expired, and the names of old facts. */
export const pruneBilling = async ({ db }: DatabaseCtx): Promise<void> => {
  const nowMs = Date.now();
  const oldPayments = db
    .select({ id: payments.id })
    .from(payments)
    .where(and(isUnpaid, lt(payments.createdAt, nowMs - KEEP_UNPAID_MS)))
    .orderBy(asc(payments.createdAt))
    .limit(MAX_ROWS);
  const oldFacts = db
    .select({ name: appliedFacts.name })
    .from(appliedFacts)
    .where(lt(appliedFacts.appliedAt, nowMs - KEEP_FACTS_MS))
    .orderBy(asc(appliedFacts.appliedAt))
    .limit(MAX_ROWS);
  await db.batch([
    db.delete(payments).where(inArray(payments.id, oldPayments)),
    db.delete(appliedFacts).where(inArray(appliedFacts.name, oldFacts)),
  ]);
};
