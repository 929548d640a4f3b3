import { and, inArray } from 'drizzle-orm';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { payments } from '../../db/schema.ts';
import type { Books, Decision } from '../rules/books.ts';
import { writeDecision } from './write-decision.ts';

/**
 * Marks the payments that a purchase refunds of the subscription that it replaces, before that subscription is canceled. Its end may
 * be applied before the purchase is committed, which then finds nothing to replace, and the customer would have paid for both.
 * Returns the books with the marks, or null if they are out of date.
 */
export const markDue = async (ctx: DatabaseCtx, books: Books, decision: Decision): Promise<Books | null> => {
  const unmarked = books.current.filter(({ refundDueAt }) => refundDueAt === null).map(({ id }) => id);
  const due = decision.payments.filter(
    ({ id, refundDueAt }) => refundDueAt !== null && unmarked.includes(id),
  );
  if (due.length === 0) return books;
  const ids = due.map(({ id }) => id);
  const refundDueAt = books.nowMs;
  const marked = await ctx.db
    .update(payments)
    .set({ refundDueAt })
    .where(and(inArray(payments.id, ids), writeDecision(ctx, books, decision).condition))
    .returning({ id: payments.id });
  if (marked.length < ids.length) return null;
  const current = books.current.map((row) => (ids.includes(row.id) ? { ...row, refundDueAt } : row));
  return { ...books, current };
};
