import { and, desc, eq, isNotNull } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { isUnpaid, payments } from '../db/schema.ts';
import { replacePending } from './expire.ts';
import { getProvider } from './provider/providers.ts';

// Ends what an account could still come to pay, because it is to be erased.

/** The most checkouts that a call ends. Few accounts have more than one. */
const MAX_CHECKOUTS = 10;

/**
 * Ends the checkouts that have bought nothing so far, the newest first: one that is complete becomes a payment once its bank
 * debit arrives, which may be weeks later. Those that are ended lose their reference. Returns whether none is left.
 */
export const endCheckouts = async (ctx: Ctx): Promise<boolean> => {
  const { env, db, accountId } = ctx;
  await replacePending(ctx, Date.now());
  const isEndable = and(eq(payments.accountId, accountId), isUnpaid, isNotNull(payments.checkoutRef));
  const rows = await db
    .select()
    .from(payments)
    .where(isEndable)
    .orderBy(desc(payments.id))
    .limit(MAX_CHECKOUTS + 1);
  let failure: unknown = null;
  for (const { id, provider, checkoutRef } of rows.slice(0, MAX_CHECKOUTS)) {
    try {
      await (await getProvider(env, provider, null)).endCheckout(checkoutRef ?? '');
      await db
        .update(payments)
        .set({ checkoutRef: null, expireDueAt: null })
        .where(and(eq(payments.id, id), isEndable));
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return rows.length <= MAX_CHECKOUTS;
};
