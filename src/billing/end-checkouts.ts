import { and, asc, desc, eq, inArray, isNotNull, isNull } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { accounts, isUnpaid, type PaymentRow, payments } from '../db/schema.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import { replacePending } from './expire.ts';
import { giveBack } from './facts/apply.ts';
import { RefundRefused } from './provider/provider-failed.ts';
import { getProvider } from './provider/providers.ts';

// Ends what an account could still come to pay, because it is to be erased.

/** The most payments of which a call ends the checkout, or gives back the money. Few accounts have more than one. */
const MAX_PAYMENTS = 10;

/** How long refused refunds delay an erasure after the seven days for coming back: 30 days after the request, all is erased. */
const GIVE_UP_MS = 23 * DAY_MS;

/** The time between two requests for a refund that was refused. */
const REFUSED_RETRY_MS = HOUR_MS;

interface Refused {
  payment: PaymentRow;
  error: RefundRefused;
}

const logRefused = (event: string, { payment, error }: Refused) => {
  const { id, accountId, provider, checkoutRef, amount, currency } = payment;
  const money = { provider, provider_ref: checkoutRef, amount, currency };
  logError(event, error, { account_id: accountId, payment_id: id, ...money });
};

/**
 * Puts off refunds that the provider refuses, and returns when to ask again. 30 days after the request it gives them up: it logs
 * what the operator has to give back, deletes the payments, so that nothing asks for them again, and returns null.
 */
const putOff = async ({ db }: Ctx, refused: Refused[], eraseAtMs: number): Promise<number | null> => {
  const nowMs = Date.now();
  const isRefused = inArray(
    payments.id,
    refused.map(({ payment }) => payment.id),
  );
  if (nowMs >= eraseAtMs + GIVE_UP_MS) {
    for (const each of refused) logRefused('payment_kept', each);
    await db.delete(payments).where(isRefused);
    return null;
  }
  for (const each of refused) logRefused('payment_not_refunded', each);
  const refundDueAt = nowMs + REFUSED_RETRY_MS;
  await db.update(payments).set({ refundDueAt }).where(isRefused);
  return refundDueAt;
};

/**
 * Ends the checkouts that have bought nothing so far: the bank debit of one that is complete may arrive weeks later. All are marked
 * first, so that they buy nothing whatever the provider answers. Also gives back what is due from before: what has been due longest
 * first, then the newest. Returns when to go on, or null if nothing is left.
 */
export const endCheckouts = async (ctx: Ctx): Promise<number | null> => {
  const { env, db, accountId } = ctx;
  const nowMs = Date.now();
  const ofAccount = eq(payments.accountId, accountId);
  const isEndable = and(ofAccount, isUnpaid, isNotNull(payments.checkoutRef));
  const [, , rows, [account]] = await db.batch([
    replacePending(ctx, nowMs),
    db
      .update(payments)
      .set({ refundDueAt: nowMs })
      .where(and(isEndable, isNull(payments.refundDueAt))),
    db
      .select()
      .from(payments)
      .where(and(ofAccount, isNotNull(payments.refundDueAt)))
      .orderBy(asc(payments.refundDueAt), desc(payments.id))
      .limit(MAX_PAYMENTS + 1),
    db.select({ eraseAt: accounts.eraseAt }).from(accounts).where(eq(accounts.id, accountId)),
  ]);
  const refused: Refused[] = [];
  let failure: unknown = null;
  for (const payment of rows.slice(0, MAX_PAYMENTS)) {
    try {
      await giveBack(ctx, await getProvider(env, payment.provider, null), payment);
    } catch (error) {
      if (error instanceof RefundRefused) refused.push({ payment, error });
      else failure ??= error;
    }
  }
  const laterMs = refused.length === 0 ? null : await putOff(ctx, refused, account?.eraseAt ?? Infinity);
  if (failure) throw failure;
  return laterMs ?? (rows.length > MAX_PAYMENTS ? nowMs : null);
};
