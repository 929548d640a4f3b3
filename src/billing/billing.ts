import { and, desc, eq } from 'drizzle-orm';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { isLive, payments, type SubscriptionRow, subscriptions } from '../db/schema.ts';
import { checkReturning } from './check.ts';

const RECENT_PAYMENTS = 50;

/** Returns the account's subscription, or null if it has none or the subscription has ended. */
export const findLiveSubscription = async ({ db, accountId }: Ctx): Promise<SubscriptionRow | null> => {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.accountId, accountId), isLive));
  const hasEnded = row !== undefined && row.endsAt !== null && row.endsAt <= Date.now();
  return row && !hasEnded ? row : null;
};

const readBilling = async (ctx: Ctx) => {
  const [account, subscription, recent] = await Promise.all([
    getAccount(ctx),
    findLiveSubscription(ctx),
    ctx.db
      .select()
      .from(payments)
      .where(eq(payments.accountId, ctx.accountId))
      .orderBy(desc(payments.id))
      .limit(RECENT_PAYMENTS),
  ]);
  return { account, subscription, payments: recent };
};

/** Returns the account's billing. Asks the provider first if a payment is pending, because its notification can be lost. */
export const getBilling = async (ctx: Ctx, origin: string) => {
  const billing = await readBilling(ctx);
  const pending = billing.payments.find(({ status }) => status === 'pending');
  const mayHaveChanged = pending !== undefined && (await checkReturning(ctx, pending, origin));
  return mayHaveChanged ? readBilling(ctx) : billing;
};
