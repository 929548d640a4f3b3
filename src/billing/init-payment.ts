import { and, eq, isNull } from 'drizzle-orm';
import type * as z from 'zod';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { giveUpClaim, releaseClaim } from '../db/idempotency.ts';
import { isPending, type PaymentRow, payments } from '../db/schema.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { newId } from '../shared/text/ids.ts';
import { findLiveSubscription } from './billing.ts';
import { isChangeable } from './change-plan.ts';
import { claimPayment } from './claim.ts';
import { expireReplaced } from './expire.ts';
import { providerFailed } from './provider/provider-failed.ts';
import type { Checkout, Provider } from './provider/provider.ts';
import { getCheckoutProvider } from './provider/providers.ts';
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

const WAIT_MS = 250;
/** How long another request may take to start the checkout that this one shares. */
const MAX_START_MS = 5_000;

/** Waits while another request starts the checkout. Returns null if it has taken too long, as after a crash. */
const untilStarted = async (ctx: Ctx, payment: PaymentRow): Promise<PaymentRow | null> => {
  for (let waited = 0; waited < MAX_START_MS; waited += WAIT_MS) {
    const isOld = Date.now() - payment.createdAt > MAX_START_MS;
    const [row] = await ctx.db.select().from(payments).where(eq(payments.id, payment.id));
    if (row?.status !== 'pending') {
      await giveUpClaim(ctx, payment.id);
      return providerFailed();
    }
    if (row.checkoutUrl !== null) return row;
    if (isOld) return null;
    await scheduler.wait(WAIT_MS);
  }
  return null;
};

/** Starts the payment's checkout at the provider. A repeat starts no other one. */
const startCheckout = async (ctx: Ctx, provider: Provider, payment: PaymentRow, checkout: Checkout) => {
  const isPayment = eq(payments.id, payment.id);
  const started = await provider.startCheckout(checkout).catch(async (error: unknown) => {
    // Stripe would repeat its error for this payment, so the next call needs another one, also with the same Idempotency-Key.
    const isNotStarted = and(isPayment, isPending, isNull(payments.checkoutRef));
    await ctx.db.batch([
      ctx.db.update(payments).set({ status: 'replaced' }).where(isNotStarted),
      ...(ctx.idempotency ? [releaseClaim(ctx, ctx.idempotency, payment.id)] : []),
    ]);
    throw error;
  });
  const [row] = await ctx.db.update(payments).set(started).where(isPayment).returning();
  if (row?.status === 'replaced') {
    // Otherwise a repeat would get the URL of a checkout that has expired.
    await giveUpClaim(ctx, payment.id);
    await expireReplaced(ctx, provider, row);
    throw new AppError('invalid_transition', {
      message: 'Another checkout was started at the same time and has replaced this one.',
    });
  }
  return started.checkoutUrl;
};

/** Starts a checkout, or returns the one that is open for the same plan. */
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
  const isOurs = isChangeable(provider, subscription);
  const { amount, currency } = await provider.price(input.plan);
  const toReturnUrl = (path: 'success_url' | 'cancel_url') =>
    checkReturnUrl(path, input[path], origin, account.allowedOrigins, `/checkout/${id}`);
  // Inserted before the checkout starts, because a checkout without a row could be paid without any effect.
  const { payment, replaced } = await claimPayment(ctx, {
    id,
    accountId: ctx.accountId,
    provider: provider.name,
    plan: input.plan,
    status: 'pending',
    amount,
    currency,
    checkoutRef: null,
    // The owner confirms a change on a page of this service, because the provider has none.
    checkoutUrl: isOurs ? `${origin}/checkout/${id}` : null,
    successUrl: toReturnUrl('success_url'),
    cancelUrl: toReturnUrl('cancel_url'),
    createdAt: Date.now(),
    paidAt: null,
    checkedAt: 0,
    expireDueAt: null,
    // The sandbox has no proration: there another checkout replaces the subscription on purpose.
    subscriptionId: isOurs || provider.name === 'sandbox' ? (subscription?.id ?? null) : null,
    periodEnd: null,
    refundedAmount: 0,
    refundDueAt: null,
  });
  for (const row of replaced) await expireReplaced(ctx, provider, row);
  if (payment.checkoutUrl !== null) return { payment, checkoutUrl: payment.checkoutUrl };
  const shared = payment.id === id ? null : await untilStarted(ctx, payment);
  if (shared?.checkoutUrl) return { payment: shared, checkoutUrl: shared.checkoutUrl };
  const checkoutUrl = await startCheckout(ctx, provider, payment, {
    successUrl: payment.successUrl ?? origin,
    cancelUrl: payment.cancelUrl ?? origin,
    paymentId: payment.id,
    accountId: ctx.accountId,
    email: account.email,
    customerRef: account.customerRef,
    plan: payment.plan,
    amount: payment.amount,
    currency: payment.currency,
    origin,
  });
  return { payment, checkoutUrl };
};

/** Returns the payment that an earlier call has started. If that call has died or failed, the next repeat starts anew. */
export const findStarted = async (ctx: Ctx, id: string) => {
  const [payment] = await ctx.db
    .select()
    .from(payments)
    .where(and(eq(payments.id, id), eq(payments.accountId, ctx.accountId)));
  if (payment?.checkoutUrl) return { payment, checkoutUrl: payment.checkoutUrl };
  const mayStart = payment?.status === 'pending' && Date.now() - payment.createdAt <= MAX_START_MS;
  if (!mayStart) await giveUpClaim(ctx, id);
  return providerFailed();
};
