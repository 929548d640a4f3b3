import { eq } from 'drizzle-orm';
import type * as z from 'zod';
import { audit } from '../audit/audit.ts';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { payments } from '../db/schema.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { CURRENCY, PLANS } from '../shared/rules/plans.ts';
import { newId } from '../shared/text/ids.ts';
import { findLiveSubscription } from './billing.ts';
import { expireReplaced, replacePending } from './expire.ts';
import { getCheckoutProvider } from './providers.ts';
import type { initPaymentInput } from './schemas.ts';

/** Returns the URL to return to after checkout, which must be on this service or on an allowed origin. */
const checkReturnUrl = (
  path: string,
  url: string | undefined,
  origin: string,
  allowed: string[],
  fallback: string,
) => {
  if (url === undefined) return `${origin}${fallback}`;
  const target = URL.parse(url, origin);
  // A blob URL has the origin of the page that created it, so check the protocol too.
  const isPlainHttp = target && /^https?:$/.test(target.protocol) && target.username + target.password === '';
  if (!isPlainHttp || ![origin, ...allowed].includes(target.origin)) {
    throw invalidField(path, 'must be on this service or on an origin that the account allows');
  }
  return target.href;
};

/** Inserts the payment in place of the account's pending payment, and returns the payments that it replaces. */
const insertPayment = async (ctx: Ctx, payment: typeof payments.$inferInsert & { id: string }) => {
  const { db } = ctx;
  const [replaced] = await db.batch([
    replacePending(ctx, payment.createdAt),
    db.insert(payments).values(payment),
    audit(ctx, 'checkout.start', payment.id, { plan: payment.plan }),
  ]);
  return replaced;
};

export const initPayment = async (ctx: Ctx, input: z.output<typeof initPaymentInput>, origin: string) => {
  const provider = await getCheckoutProvider(ctx.env, origin);
  const account = await getAccount(ctx);
  const subscription = await findLiveSubscription(ctx);
  if (subscription?.plan === input.plan && subscription.status === 'active') {
    throw new AppError('invalid_transition', {
      message: `The account is already on the ${input.plan} plan.`,
    });
  }
  const id = newId('pay');
  const toReturnUrl = (path: 'success_url' | 'cancel_url') =>
    checkReturnUrl(path, input[path], origin, account.allowedOrigins, `/checkout/${id}`);
  const urls = { successUrl: toReturnUrl('success_url'), cancelUrl: toReturnUrl('cancel_url') };
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
  // Inserted before the checkout starts, because a checkout without a row could be paid without any effect.
  for (const replaced of await insertPayment(ctx, payment)) await expireReplaced(ctx, provider, replaced);
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
    throw new AppError('unavailable', {
      message: 'The payment provider did not respond, so try again later.',
      cause: error,
    });
  });
  const isPayment = eq(payments.id, payment.id);
  const [started] = await ctx.db.update(payments).set({ checkoutRef }).where(isPayment).returning();
  if (started?.status === 'replaced') {
    await expireReplaced(ctx, provider, started);
    throw new AppError('invalid_transition', {
      message: 'Another checkout was started at the same time and has replaced this one.',
    });
  }
  return { payment, checkoutUrl };
};
