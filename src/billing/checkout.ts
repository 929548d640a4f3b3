import { and, eq } from 'drizzle-orm';
import { type PaymentRow, payments } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { checkReturning } from './check.ts';
import type { Provider } from './provider.ts';
import { receiveNotification } from './receive.ts';
import { sandboxNotification } from './sandbox.ts';

/** Finds a payment by its id. The id is the only credential, as on any provider's checkout page. */
export const findCheckout = async ({ db }: PublicCtx, paymentId: string): Promise<PaymentRow> => {
  const [payment] = await db.select().from(payments).where(eq(payments.id, paymentId));
  if (!payment) throw new AppError('not_found');
  return payment;
};

/** Finds the payment of a customer who has come back from checkout. */
export const findReturning = async (
  ctx: PublicCtx,
  payment: PaymentRow,
  origin: string,
): Promise<PaymentRow> =>
  (await checkReturning(ctx, payment, origin)) ? findCheckout(ctx, payment.id) : payment;

/** Pays or declines through a signed notification, as a real provider does. Returns the URL to redirect to. */
export const completeCheckout = async (
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
