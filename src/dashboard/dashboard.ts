import { and, asc, count, eq, inArray, isNull } from 'drizzle-orm';
import type * as z from 'zod';
import { getProfile } from '../accounts/profile.ts';
import { toAccountDetails } from '../accounts/schemas.ts';
import type { Ctx } from '../db/ctx.ts';
import { accounts, apiKeys, products } from '../db/schema.ts';
import { storedBytes } from '../db/storage.ts';
import { type DayUsage, type ProductUsage, USAGE_DAYS } from '../gate/rules/usage.ts';
import { findMove } from '../regions/home.ts';
import { listBranches } from '../regions/regions.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import { addDays, isoDate, isoTime } from '../shared/rules/dates.ts';
import { storageLimit } from '../shared/rules/plans.ts';
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

const MAX_PRODUCTS = 10;
/** Counted products whose names are read. Some of them may be deleted, and are left out. */
const MAX_PRODUCTS_READ = 50;

type ProductCtx = Pick<Ctx, 'db' | 'accountId'>;
type ProductName = { code: string; name: string | null };

const selectProducts = ({ db }: ProductCtx) =>
  db.select({ code: products.code, name: products.name }).from(products);

/** A statement that reads all products of most accounts, and the first ones of an account that has many. */
const selectFirstProducts = (ctx: ProductCtx) =>
  selectProducts(ctx)
    .where(eq(products.accountId, ctx.accountId))
    .orderBy(asc(products.code))
    .limit(MAX_PRODUCTS + 1);

/** Returns the products with the most calls. `first` are the rows of `selectFirstProducts`. */
const busiestProducts = async (ctx: ProductCtx, first: ProductName[], usage: ProductUsage[]) => {
  const busiest = usage.toSorted((a, b) => b.calls - a.calls).slice(0, MAX_PRODUCTS_READ);
  const callsByCode = new Map(busiest.map(({ code, calls }) => [code, calls]));
  const isCalled = and(
    eq(products.accountId, ctx.accountId),
    inArray(products.code, [...callsByCode.keys()]),
  );
  const others = first.length > MAX_PRODUCTS ? await selectProducts(ctx).where(isCalled) : [];
  const names = new Map([...others, ...first].map(({ code, name }) => [code, name]));
  return [...names]
    .map(([product, name]) => ({ product, name, calls: callsByCode.get(product) ?? 0 }))
    .toSorted((a, b) => b.calls - a.calls || (a.product < b.product ? -1 : 1))
    .slice(0, MAX_PRODUCTS);
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
