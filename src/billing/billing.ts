import { and, desc, eq } from 'drizzle-orm';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { isLive, payments, type SubscriptionRow, subscriptions } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { CURRENCY, type PaidPlan, PLANS } from '../shared/rules/plans.ts';
import { logError } from '../shared/text/log.ts';
import type { Price } from './provider/provider.ts';
import { findProvider } from './provider/providers.ts';
import { checkReturning } from './scheduled/check.ts';

const RECENT_PAYMENTS = 50;

/** Returns the account's subscription until it has ended at the provider, which may be later than here. */
export const findUnended = async ({ db, accountId }: Ctx): Promise<SubscriptionRow | null> => {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.accountId, accountId), isLive));
  return row ?? null;
};

/** Returns what an earlier call has changed, also if the subscription has ended since. */
export const findChanged = async ({ db, accountId }: Ctx, id: string): Promise<SubscriptionRow> => {
  const isSubscription = and(eq(subscriptions.id, id), eq(subscriptions.accountId, accountId));
  const [row] = await db.select().from(subscriptions).where(isSubscription);
  if (!row) throw new AppError('no_active_subscription');
  return row;
};

/** Returns the account's subscription, or null if it has none or its plan is over. */
export const findLiveSubscription = async (ctx: Ctx): Promise<SubscriptionRow | null> => {
  const row = await findUnended(ctx);
  const isOver = row !== null && row.endsAt !== null && row.endsAt <= Date.now();
  return row && !isOver ? row : null;
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

/** What the plans cost. A provider that doesn't answer leaves their usual prices. */
const readPrices = async (ctx: Ctx, origin: string): Promise<Record<PaidPlan, Price>> => {
  const usual = (plan: PaidPlan): Price => ({ amount: PLANS[plan].amount, currency: CURRENCY });
  const { payments: name } = settingsOf(ctx.env);
  const provider = name && (await findProvider(ctx.env, name, origin));
  const read = async (plan: PaidPlan) => {
    if (!provider) return usual(plan);
    return provider.price(plan).catch((error: unknown) => {
      logError('price_not_read', error, { plan });
      return usual(plan);
    });
  };
  const [pro, scale] = await Promise.all([read('pro'), read('scale')]);
  return { pro, scale };
};

/** Returns the account's billing. Asks the provider first if a payment is pending, because its notification can be lost. */
export const getBilling = async (ctx: Ctx, origin: string) => {
  const [billing, prices] = await Promise.all([readBilling(ctx), readPrices(ctx, origin)]);
  const pending = billing.payments.find(({ status }) => status === 'pending');
  const mayHaveChanged = pending !== undefined && (await checkReturning(ctx, pending, origin));
  return { ...(mayHaveChanged ? await readBilling(ctx) : billing), prices };
};
