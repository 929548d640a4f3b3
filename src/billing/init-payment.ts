import { and, eq } from 'drizzle-orm';
import type * as z from 'zod';
import { getAccount } from '../accounts/account.ts';
import { payments } from '../db/schema.ts';
import type { Ctx } from '../db/ctx.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { newId } from '../shared/ids.ts';
import { CURRENCY, PLANS } from '../shared/rules/plans.ts';
import { logError } from '../shared/log.ts';
import { liveSubscription } from './billing.ts';
import type { Provider, ProviderName } from './provider.ts';
import { currentProvider } from './providers.ts';
import type { initPaymentInput } from './schemas.ts';

/** Where a browser is sent after paying: this service, or an origin that the account has named. */
const returnUrl = (
  path: string,
  url: string | undefined,
  origin: string,
  allowed: string[],
  fallback: string,
) => {
  if (url === undefined) return `${origin}${fallback}`;
  const target = URL.parse(url, origin);
  // A blob's origin is that of the page that made it.
  const isPlain = target && /^https?:$/.test(target.protocol) && target.username + target.password === '';
  if (!isPlain || ![origin, ...allowed].includes(target.origin)) {
    throw invalidField(path, 'must be on this service or on an origin that the account allows');
  }
  return target.href;
};

/** A new checkout replaces those that were begun and not paid, so that none of them is paid beside it. */
const replacePending = async ({ db, accountId }: Ctx, provider: Provider) => {
  const pending = and(eq(payments.accountId, accountId), eq(payments.status, 'pending'));
  const replaced = await db.update(payments).set({ status: 'replaced' }).where(pending).returning();
  for (const { checkoutRef, provider: name } of replaced) {
    if (checkoutRef === null || name !== (provider.name satisfies ProviderName)) continue;
    await provider.expireCheckout(checkoutRef).catch((error: unknown) => {
      // Expired already, or paid this very moment: the payment's own status decides.
      logError('checkout_not_expired', error, { account_id: accountId });
    });
  }
};

export const initPayment = async (ctx: Ctx, input: z.output<typeof initPaymentInput>, origin: string) => {
  const provider = await currentProvider(ctx.env, origin);
  const account = await getAccount(ctx);
  const subscription = await liveSubscription(ctx);
  if (subscription?.plan === input.plan && subscription.status === 'active') {
    throw new AppError('invalid_transition', {
      message: `The account is on the plan ${input.plan} already.`,
    });
  }
  const id = newId('pay');
  const back = (path: 'success_url' | 'cancel_url') =>
    returnUrl(path, input[path], origin, account.allowedOrigins, `/checkout/${id}`);
  const urls = { successUrl: back('success_url'), cancelUrl: back('cancel_url') };
  await replacePending(ctx, provider);
  const payment = {
    id,
    accountId: ctx.accountId,
    provider: provider.name,
    plan: input.plan,
    status: 'pending' as const,
    amount: PLANS[input.plan].amount,
    currency: CURRENCY,
    ...urls,
    createdAt: Date.now(),
  };
  // First the row: a checkout that we had forgotten could be paid for nothing.
  await ctx.db.insert(payments).values(payment);
  const checkout = {
    ...urls,
    paymentId: payment.id,
    accountId: ctx.accountId,
    email: account.email,
    customerRef: account.customerRef,
    plan: input.plan,
    amount: payment.amount,
    currency: CURRENCY,
    origin,
  };
  const { checkoutUrl, checkoutRef } = await provider.startCheckout(checkout).catch((error: unknown) => {
    throw new AppError('unavailable', { message: 'The payment provider did not answer.', cause: error });
  });
  await ctx.db.update(payments).set({ checkoutRef }).where(eq(payments.id, payment.id));
  return { payment, checkoutUrl };
};
