import { and, count, eq, isNull } from 'drizzle-orm';
import type * as z from 'zod';
import { toAccount } from '../accounts/schemas.ts';
import { accounts, apiKeys, licenseCounts } from '../db/schema.ts';
import type { DayUsage } from '../gate/ledger.ts';
import { gateOf } from '../shared/objects.ts';
import { LICENSE_STATES, licenseState, type LicenseState } from '../shared/rules/licenses.ts';
import type { Ctx } from '../db/ctx.ts';
import { addDays, isoDate, isoTime } from '../shared/rules/dates.ts';
import { outboxOf } from '../shared/objects.ts';
import { type dashboardBody, toRecentEvent } from './schemas.ts';

const DAYS = 30;

/** Returns one entry per day, with zeros for days without usage. */
const fillDays = (fromDate: string, days: DayUsage[]): DayUsage[] => {
  const byDate = new Map(days.map((day) => [day.date, day]));
  return Array.from({ length: DAYS }, (_, i) => {
    const date = addDays(fromDate, i);
    return byDate.get(date) ?? { date, verify: 0, create: 0 };
  });
};

type CountRow = Pick<typeof licenseCounts.$inferSelect, 'status' | 'expiresAt' | 'licenses'>;

const countByState = (rows: CountRow[], today: string) => {
  const counts = Object.fromEntries(LICENSE_STATES.map((state) => [state, 0])) as Record<
    LicenseState,
    number
  >;
  let total = 0;
  for (const { status, expiresAt, licenses } of rows) {
    counts[licenseState({ status, expiresAt: expiresAt || null }, today)] += licenses;
    total += licenses;
  }
  return { total, ...counts };
};

export const getDashboard = async ({ env, db, accountId }: Ctx): Promise<z.infer<typeof dashboardBody>> => {
  const today = isoDate(Date.now());
  const fromDate = addDays(today, 1 - DAYS);
  const [statistics, outbox, [[account], counts, [keys]]] = await Promise.all([
    gateOf(env, accountId).statistics(fromDate),
    outboxOf(env, accountId).summary(),
    db.batch([
      db.select().from(accounts).where(eq(accounts.id, accountId)),
      db
        .select({
          status: licenseCounts.status,
          expiresAt: licenseCounts.expiresAt,
          licenses: licenseCounts.licenses,
        })
        .from(licenseCounts)
        .where(eq(licenseCounts.accountId, accountId)),
      db
        .select({ total: count() })
        .from(apiKeys)
        .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt))),
    ]),
  ]);
  if (!account) throw new Error(`The credential's account ${accountId} is not in the database.`);
  return {
    account: toAccount(account),
    usage: {
      api_usage: statistics.apiUsage,
      api_limit: statistics.apiLimit,
      period_start: isoTime(statistics.period.startMs),
      period_end: isoTime(statistics.period.endMs),
    },
    usage_by_day: fillDays(fromDate, statistics.days),
    licenses: countByState(counts, today),
    api_keys: { total: keys?.total ?? 0 },
    webhooks: {
      endpoints: outbox.endpoints,
      delivered_24h: outbox.delivered24h,
      failed_24h: outbox.failed24h,
    },
    recent_events: outbox.recentEvents.map(toRecentEvent),
  };
};
