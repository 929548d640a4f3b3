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
import { applyState } from './apply.ts';
import { providerFailed } from './provider-failed.ts';
import type { Provider } from './provider.ts';
import { isPaidInFull } from './standing.ts';

// Changes the plan of a subscription that is paid for, or lets it go on, once its owner has confirmed that.

/** Whether another plan changes this subscription, rather than buying another one. */
export const isChangeable = (
  provider: Provider,
  subscription: SubscriptionRow | null,
): subscription is SubscriptionRow =>
  provider.change !== null && subscription?.provider === provider.name && isPaidInFull(subscription);

export const isChange = ({ provider, subscriptionId, status }: PaymentRow): boolean =>
  provider !== 'sandbox' && subscriptionId !== null && status === 'pending';

/** Makes the change at the provider, and applies what it says then. Returns the URL to open next. */
export const confirmChange = async (
  ctx: DatabaseCtx,
  provider: Provider,
  payment: PaymentRow,
): Promise<string> => {
  const { db } = ctx;
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.id, payment.subscriptionId ?? ''), isLive));
  if (!isChangeable(provider, row ?? null) || !row || !provider.change) {
    await db
      .update(payments)
      .set({ status: 'expired' })
      .where(and(eq(payments.id, payment.id), isPending));
    throw new AppError('invalid_transition', { message: 'The subscription has ended in the meantime.' });
  }
  const { providerRef: ref, plan, cancelledAt } = row;
  const change = plan === payment.plan ? null : provider.change(ref, payment.plan, payment.id);
  const payUrl = await (change ?? Promise.resolve(null)).catch(providerFailed);
  if (payUrl === null && cancelledAt !== null) await provider.resume(ref).catch(providerFailed);
  await applyState(ctx, provider, { kind: 'subscription', ref, endsAtMs: null }).catch(providerFailed);
  return payUrl ?? payment.successUrl ?? '/';
};
