import { and, eq, type SQL } from 'drizzle-orm';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { isPending, type PaymentRow, payments } from '../db/schema.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import { applyState } from './facts/apply.ts';
import type { Provider } from './provider/provider.ts';
import { findProvider } from './provider/providers.ts';

// Expires the checkouts of replaced payments at the provider, so that they can't be paid anymore.

const RETRY_MS = HOUR_MS / 2;
/** Providers close a checkout after a day by themselves. */
export const PAYABLE_MS = 2 * DAY_MS;

/** When the scheduled work expires a checkout that is replaced now, unless the request that replaces it does. */
const nextExpiryMs = (nowMs: number) => nowMs + RETRY_MS;

/** Statement that replaces the account's pending payment if the condition holds. Expire the returned ones next. */
export const replacePending = ({ db, accountId }: Ctx, nowMs: number, condition?: SQL) =>
  db
    .update(payments)
    .set({ status: 'replaced', expireDueAt: nextExpiryMs(nowMs) })
    .where(and(eq(payments.accountId, accountId), isPending, condition))
    .returning();

const setDue = ({ db }: DatabaseCtx, { id, expireDueAt }: PaymentRow, dueMs: number | null) =>
  db
    .update(payments)
    .set({ expireDueAt: dueMs })
    .where(and(eq(payments.id, id), eq(payments.expireDueAt, expireDueAt ?? 0)))
    .returning({ id: payments.id });

/** Expires a checkout that was just replaced. If that fails, the scheduled work does it later. */
export const expireReplaced = async (ctx: DatabaseCtx, provider: Provider, payment: PaymentRow) => {
  const { checkoutRef, accountId } = payment;
  // Without a checkoutRef, the request that is starting the checkout expires it.
  if (checkoutRef === null || payment.provider !== provider.name) return;
  try {
    await provider.expireCheckout(checkoutRef);
    await setDue(ctx, payment, null);
  } catch (error) {
    logError('checkout_not_expired', error, { account_id: accountId });
  }
};

/** Expires the checkout, or learns that it is closed. A checkout that was paid first is applied, now or when its debit arrives. */
const close = async (ctx: DatabaseCtx, provider: Provider, checkoutRef: string) => {
  try {
    await provider.expireCheckout(checkoutRef);
  } catch (error) {
    const { checkout } = await applyState(ctx, provider, { kind: 'checkout', ref: checkoutRef });
    if (checkout === 'open') throw error;
  }
};

/** Expires a checkout that could not be expired when it was replaced. */
export const expireAgain = async (ctx: DatabaseCtx, payment: PaymentRow): Promise<void> => {
  const nowMs = Date.now();
  const isOver = payment.createdAt <= nowMs - PAYABLE_MS;
  const expireDueAt = isOver ? null : nextExpiryMs(nowMs);
  if ((await setDue(ctx, payment, expireDueAt)).length === 0) return;
  const provider = await findProvider(ctx.env, payment.provider, null);
  if (!provider || payment.checkoutRef === null) return;
  await close(ctx, provider, payment.checkoutRef);
  await setDue(ctx, { ...payment, expireDueAt }, null);
};
