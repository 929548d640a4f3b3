import { and, desc, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { isUnpaid, payments } from '../db/schema.ts';
import { replacePending } from './expire.ts';
import { giveBack } from './facts/apply.ts';
import { getProvider } from './provider/providers.ts';

// Ends what an account could still come to pay, because it is to be erased.

/** The most payments of which a call ends the checkout, or gives back the money. Few accounts have more than one. */
const MAX_PAYMENTS = 10;

/**
 * Ends the checkouts that have bought nothing so far, the newest first: one that is complete becomes a payment once its bank
 * debit arrives, which may be weeks later. All are marked first, so that they buy nothing whatever the provider answers, and the
 * scheduled work goes on. Also gives back what is due from before. Returns whether nothing is left.
 */
export const endCheckouts = async (ctx: Ctx): Promise<boolean> => {
  const { env, db, accountId } = ctx;
  const nowMs = Date.now();
  const ofAccount = eq(payments.accountId, accountId);
  const isEndable = and(ofAccount, isUnpaid, isNotNull(payments.checkoutRef));
  const [, , rows] = await db.batch([
    replacePending(ctx, nowMs),
    db
      .update(payments)
      .set({ refundDueAt: nowMs })
      .where(and(isEndable, isNull(payments.refundDueAt))),
    db
      .select()
      .from(payments)
      .where(and(ofAccount, isNotNull(payments.refundDueAt)))
      .orderBy(desc(payments.id))
      .limit(MAX_PAYMENTS + 1),
  ]);
  let failure: unknown = null;
  for (const row of rows.slice(0, MAX_PAYMENTS)) {
    try {
      await giveBack(ctx, await getProvider(env, row.provider, null), row);
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return rows.length <= MAX_PAYMENTS;
};
