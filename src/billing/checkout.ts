import { and, eq } from 'drizzle-orm';
import { type PaymentRow, payments } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import type { Provider } from './provider.ts';
import { receiveNotification } from './receive.ts';
import { sandboxNotification } from './sandbox.ts';

/** Who knows a payment's id may see its checkout, as with every provider. */
export const findCheckout = async ({ db }: PublicCtx, paymentId: string): Promise<PaymentRow> => {
  const [payment] = await db.select().from(payments).where(eq(payments.id, paymentId));
  if (!payment) throw new AppError('not_found');
  return payment;
};

/** Pays or declines by the road that a real provider's notification takes. Gives where the browser goes next. */
export const settleCheckout = async (
  ctx: PublicCtx,
  provider: Provider,
  payment: PaymentRow,
  outcome: 'paid' | 'declined',
): Promise<string> => {
  if (outcome === 'declined') {
    const isPending = and(eq(payments.id, payment.id), eq(payments.status, 'pending'));
    await ctx.db.update(payments).set({ status: 'declined' }).where(isPending);
  }
  const { body, headers } = sandboxNotification(ctx.env, payment.id, outcome);
  await receiveNotification(ctx, provider, body, headers);
  return (outcome === 'paid' ? payment.successUrl : payment.cancelUrl) ?? '/';
};
