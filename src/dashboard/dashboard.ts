import { and, asc, count, eq, isNull, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { getProfile } from '../accounts/profile.ts';
import { toAccountDetails } from '../accounts/schemas.ts';
import type { AccountDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { accounts, apiKeys, licenseCounts, products } from '../db/schema.ts';
import { storedBytes } from '../db/storage.ts';
import { USAGE_DAYS, type DayUsage, type ProductUsage } from '../gate/rules/usage.ts';
import { findMove } from '../regions/home.ts';
import { listBranches } from '../regions/regions.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import { addDays, isoDate, isoTime } from '../shared/rules/dates.ts';
import { LICENSE_STATES, licenseState, type LicenseStatus } from '../shared/rules/licenses.ts';
import { storageLimit } from '../shared/rules/plans.ts';
import { type dashboardBody, toRecentEvent } from './schemas.ts';

const MAX_PRODUCTS_SHOWN = 10;

/** Returns one entry per day, with zeros for days without usage. */
const fillDays = (fromDate: string, days: DayUsage[]): DayUsage[] => {
  const byDate = new Map(days.map((day) => [day.date, day]));
  return Array.from({ length: USAGE_DAYS }, (_, i) => {
    const date = addDays(fromDate, i);
    return byDate.get(date) ?? { date, verify: 0, create: 0 };
  });
};

/** Summed up in D1, because an account can have a count for every day. */
const countLicenses = (db: AccountDatabase, accountId: string, yesterday: string) => {
  const { status, expiresAt, licenses } = licenseCounts;
  const isPast = sql`${expiresAt} BETWEEN '0' AND ${yesterday}`;
  return db
    .select({
      status,
      total: sql<number>`sum(${licenses})`,
      past: sql<number>`sum(CASE WHEN ${isPast} THEN ${licenses} ELSE 0 END)`,
    })
    .from(licenseCounts)
    .where(eq(licenseCounts.accountId, accountId))
    .groupBy(status);
};

type CountRow = Awaited<ReturnType<typeof countLicenses>>[number];

const countByState = (rows: CountRow[], today: string, yesterday: string) => {
  const counts = Object.fromEntries(LICENSE_STATES.map((state) => [state, 0])) as Record<
    LicenseStatus,
    number
  >;
  let sum = 0;
  for (const { status, total, past } of rows) {
    counts[licenseState({ status, expiresAt: yesterday }, today)] += past;
    counts[licenseState({ status, expiresAt: null }, today)] += total - past;
    sum += total;
  }
  return { total: sum, ...counts };
};

type ProductNames = { code: string; name: string | null }[];

/** Returns the products with the most calls. A product that was deleted is left out. */
const countByProduct = (names: ProductNames, usage: ProductUsage[]) => {
  const callsByCode = new Map(usage.map(({ code, calls }) => [code, calls]));
  return names
    .map(({ code, name }) => ({ product: code, name, calls: callsByCode.get(code) ?? 0 }))
    .toSorted((a, b) => b.calls - a.calls)
    .slice(0, MAX_PRODUCTS_SHOWN);
};

export const getDashboard = async (ctx: Ctx): Promise<z.infer<typeof dashboardBody>> => {
  const { env, db, accountId } = ctx;
  const today = isoDate(Date.now());
  const yesterday = addDays(today, -1);
  const fromDate = addDays(today, 1 - USAGE_DAYS);
  const [account, statistics, branches, movingTo, outbox, [counts, [keys], productNames, [stored]]] =
    await Promise.all([
      getProfile(ctx),
      gateOf(env, accountId).statistics(fromDate),
      listBranches(ctx),
      findMove(ctx),
      outboxOf(env, accountId).summary(),
      db.batch([
        countLicenses(db, accountId, yesterday),
        db
          .select({ total: count() })
          .from(apiKeys)
          .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt))),
        db
          .select({ code: products.code, name: products.name })
          .from(products)
          .where(eq(products.accountId, accountId))
          .orderBy(asc(products.code)),
        db.select({ bytes: storedBytes }).from(accounts).where(eq(accounts.id, accountId)),
      ]),
    ]);
  return {
    account: toAccountDetails(account, branches, movingTo),
    usage: {
      api_usage: statistics.apiUsage,
      api_limit: statistics.apiLimit,
      period_start: isoTime(statistics.period.startMs),
      period_end: isoTime(statistics.period.endMs),
    },
    usage_by_day: fillDays(fromDate, statistics.days),
    ...(productNames.length > 0 && { usage_by_product: countByProduct(productNames, statistics.products) }),
    licenses: countByState(counts, today, yesterday),
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
