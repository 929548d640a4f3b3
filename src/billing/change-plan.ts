import { and, eq } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import {
  isLive,
  isPending,
  type PaymentRow,
  payments,
  type SubscriptionRow,
  subscriptions,
} from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { applyState } from './facts/apply.ts';
import type { Provider } from './provider/provider.ts';
import { isPaidInFull } from './rules/standing.ts';

// Changes the plan of a subscription that is paid for, or lets it go on, once its owner has confirmed that.

/** Whether another plan changes this subscription, rather than buying another one. */
export const isChangeable = (
  provider: Provider,
  subscription: SubscriptionRow | null,
): subscription is SubscriptionRow =>
  provider.change !== null && subscription?.provider === provider.name && isPaidInFull(subscription);

export const isChange = ({ provider, subscriptionId, status }: PaymentRow): boolean =>
  provider !== 'sandbox' && subscriptionId !== null && status === 'pending';

/** What can't be confirmed anymore. The next try gets a payment of its own, because the provider repeats its answer to this one. */
const giveUp = async ({ db }: DatabaseCtx, { id }: PaymentRow): Promise<boolean> => {
  const isOpen = and(eq(payments.id, id), isPending);
  const rows = await db.update(payments).set({ status: 'expired' }).where(isOpen).returning();
  return rows.length > 0;
};

const hasEnded = () =>
  new AppError('invalid_transition', { message: 'The subscription has ended in the meantime.' });

/** Asks the provider for the change. Even if the call fails, the change may have been made, which the subscription's state says. */
const requestChange = async (
  ctx: DatabaseCtx,
  provider: Provider,
  payment: PaymentRow,
  ref: string,
): Promise<string | null> => {
  try {
    return (await provider.change?.(ref, payment.plan, payment.id)) ?? null;
  } catch (error) {
    await applyState(ctx, provider, { kind: 'subscription', ref, endsAtMs: null });
    if (await giveUp(ctx, payment)) throw error;
    return null;
  }
};

/** Makes the change at the provider, and applies what it says then. Returns the URL to open next. */
export const confirmChange = async (
  ctx: DatabaseCtx,
  provider: Provider,
  payment: PaymentRow,
): Promise<string> => {
  const [row = null] = await ctx.db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.id, payment.subscriptionId ?? ''), isLive));
  if (!isChangeable(provider, row)) {
    await giveUp(ctx, payment);
    throw hasEnded();
  }
  const { providerRef: ref, plan, cancelledAt } = row;
  const payUrl = plan === payment.plan ? null : await requestChange(ctx, provider, payment, ref);
  const goesOn = payUrl !== null || cancelledAt === null || (await provider.resume(ref));
  await applyState(ctx, provider, { kind: 'subscription', ref, endsAtMs: null });
  if (!goesOn && (await giveUp(ctx, payment))) throw hasEnded();
  return payUrl ?? payment.successUrl ?? '/';
};
