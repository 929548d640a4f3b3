import { and, count, eq, isNull } from 'drizzle-orm';
import type * as z from 'zod';
import { getProfile } from '../accounts/profile.ts';
import { toAccountDetails } from '../accounts/schemas.ts';
import type { Ctx } from '../db/ctx.ts';
import { accounts, apiKeys } from '../db/schema.ts';
import { storedBytes } from '../db/storage.ts';
import { USAGE_DAYS, type DayUsage } from '../gate/rules/usage.ts';
import { findMove } from '../regions/home.ts';
import { listBranches } from '../regions/regions.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import { addDays, isoDate, isoTime } from '../shared/rules/dates.ts';
import { storageLimit } from '../shared/rules/plans.ts';
import { busiestProducts, selectFirstProducts } from './busiest-products.ts';
import { addUpPastDays, countByState, selectCounts } from './license-counts.ts';
import { type dashboardBody, toRecentEvent } from './schemas.ts';

/** Returns one entry per day, with zeros for days without usage. */
const fillDays = (fromDate: string, days: DayUsage[]): DayUsage[] => {
  const byDate = new Map(days.map((day) => [day.date, day]));
  return Array.from({ length: USAGE_DAYS }, (_, i) => {
    const date = addDays(fromDate, i);
    return byDate.get(date) ?? { date, verify: 0, create: 0 };
  });
};

export const getDashboard = async (ctx: Ctx): Promise<z.infer<typeof dashboardBody>> => {
  const { env, db, accountId } = ctx;
  const today = isoDate(Date.now());
  const fromDate = addDays(today, 1 - USAGE_DAYS);
  const [account, statistics, branches, movingTo, outbox, inD1] = await Promise.all([
    getProfile(ctx),
    gateOf(env, accountId).statistics(fromDate),
    listBranches(ctx),
    findMove(ctx),
    outboxOf(env, accountId).summary(),
    db.batch([
      db
        .select({ total: count() })
        .from(apiKeys)
        .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt))),
      db.select({ bytes: storedBytes }).from(accounts).where(eq(accounts.id, accountId)),
      selectFirstProducts(ctx),
      ...selectCounts(ctx, today),
    ]),
  ]);
  const [[keys], [stored], products, [licenses], counted, past] = inD1;
  await addUpPastDays(ctx, today, past);
  return {
    account: toAccountDetails(account, branches, movingTo),
    usage: {
      api_usage: statistics.apiUsage,
      api_limit: statistics.apiLimit,
      period_start: isoTime(statistics.period.startMs),
      period_end: isoTime(statistics.period.endMs),
    },
    usage_by_day: fillDays(fromDate, statistics.days),
    ...(products.length > 0 && {
      usage_by_product: await busiestProducts(ctx, products, statistics.products),
    }),
    licenses: countByState(licenses?.licenses ?? 0, counted, past),
    api_keys: { total: keys?.total ?? 0 },
    storage: { used: stored?.bytes ?? 0, limit: storageLimit(account, Date.now()) },
    webhooks: {
      endpoints: outbox.endpoints,
      delivered_24h: outbox.delivered24h,
      failed_24h: outbox.failed24h,
    },
    recent_events: outbox.recentEvents.map(toRecentEvent),
  };
};
