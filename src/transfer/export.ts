import { and, asc, eq, gt, sql, type SQL } from 'drizzle-orm';
import { getProfile } from '../accounts/profile.ts';
import { auditRead } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import {
  type ApiKeyRow,
  apiKeys,
  licenseChanges,
  type LicenseRow,
  licenses,
  type PaymentRow,
  payments,
  type ProductRow,
  products,
  subscriptions,
} from '../db/schema.ts';
import type { Machine, SeatChange } from '../gate/rules/seats.ts';
import { gateOf } from '../shared/objects/address.ts';
import { listAllEndpoints } from '../webhooks/endpoints.ts';
import { exportAudit } from './export-audit.ts';
import {
  type ExportLine,
  toAccountLine,
  toActivationLine,
  toApiKeyLine,
  toChangeLine,
  toLicenseLine,
  toPaymentLine,
  toProductLine,
  toSeatChangeLine,
  toWebhookLine,
} from './export-lines.ts';

// Exports an account in pages. Each page is one query or one call to an object, which continues after the key of the last
// row. So a row that exists during the whole export is in it exactly once, and a row that is changed meanwhile is in it as
// it was before or after the change.

const MIN_PAGE = 200;
const MAX_PAGE = 10_000;
const PAGE_BYTES = 2_000_000;

/** Reads pages until one isn't full. The size of a page follows the size of its lines. */
async function* inPages<Row>(
  read: (last: Row | null, limit: number) => Promise<Row[]>,
  toLines: (rows: Row[]) => ExportLine[] | Promise<ExportLine[]>,
): AsyncGenerator<ExportLine[]> {
  let limit = MIN_PAGE;
  let last: Row | null = null;
  for (;;) {
    const rows: Row[] = await read(last, limit);
    const lines = await toLines(rows);
    if (lines.length > 0) yield lines;
    if (rows.length < limit) return;
    last = rows.at(-1) ?? null;
    const bytes = JSON.stringify(lines.slice(0, 50)).length / 50 + 1;
    limit = Math.min(MAX_PAGE, Math.max(MIN_PAGE, Math.floor(PAGE_BYTES / bytes)));
  }
}

/** Returns the license keys by the ids of licenses. A license that was deleted meanwhile is missing. */
const keysOf = async ({ db, accountId }: Ctx, ids: string[]): Promise<Map<string, string>> => {
  const rows = await db
    .select({ id: licenses.id, licenseKey: licenses.licenseKey })
    .from(licenses)
    .where(
      and(
        eq(licenses.accountId, accountId),
        sql`${licenses.id} IN (SELECT value FROM json_each(${JSON.stringify([...new Set(ids)])}))`,
      ),
    );
  return new Map(rows.map(({ id, licenseKey }) => [id, licenseKey]));
};

/** Maps rows that belong to licenses, with the license's key, and leaves out those of deleted licenses. */
const withKeys = async <Row extends { licenseId: string }>(
  ctx: Ctx,
  rows: Row[],
  toLine: (row: Row, licenseKey: string) => ExportLine,
): Promise<ExportLine[]> => {
  if (rows.length === 0) return [];
  const keys = await keysOf(
    ctx,
    rows.map(({ licenseId }) => licenseId),
  );
  return rows.flatMap((row) => {
    const licenseKey = keys.get(row.licenseId);
    return licenseKey === undefined ? [] : [toLine(row, licenseKey)];
  });
};

async function* exportAccount(ctx: Ctx) {
  const [account, rows] = await Promise.all([
    getProfile(ctx),
    ctx.db.select().from(subscriptions).where(eq(subscriptions.accountId, ctx.accountId)),
  ]);
  yield [toAccountLine(account, rows)];
}

async function* exportLists(ctx: Ctx) {
  const { db, accountId, env } = ctx;
  const after = (column: Parameters<typeof gt>[0], last: string | undefined): SQL | undefined =>
    last === undefined ? undefined : gt(column, last);
  yield* inPages<ProductRow>(
    (last, limit) =>
      db
        .select()
        .from(products)
        .where(and(eq(products.accountId, accountId), after(products.code, last?.code)))
        .orderBy(asc(products.code))
        .limit(limit),
    (rows) => rows.map(toProductLine),
  );
  yield* inPages<LicenseRow>(
    (last, limit) =>
      db
        .select()
        .from(licenses)
        .where(and(eq(licenses.accountId, accountId), after(licenses.id, last?.id)))
        .orderBy(asc(licenses.id))
        .limit(limit),
    (rows) => rows.map(toLicenseLine),
  );
  yield* inPages<PaymentRow>(
    (last, limit) =>
      db
        .select()
        .from(payments)
        .where(and(eq(payments.accountId, accountId), after(payments.id, last?.id)))
        .orderBy(asc(payments.id))
        .limit(limit),
    (rows) => rows.map(toPaymentLine),
  );
  yield* inPages<ApiKeyRow>(
    (last, limit) =>
      db
        .select()
        .from(apiKeys)
        .where(and(eq(apiKeys.accountId, accountId), sql`deleted_at IS NULL`, after(apiKeys.id, last?.id)))
        .orderBy(asc(apiKeys.id))
        .limit(limit),
    async (rows) => {
      const lastUsedMs = await gateOf(env, accountId).keysLastUsedMs(rows.map(({ id }) => id));
      return rows.map((row, i) => toApiKeyLine(row, lastUsedMs[i] ?? null));
    },
  );
  yield (await listAllEndpoints(ctx)).toReversed().map(toWebhookLine);
}

async function* exportGate(ctx: Ctx) {
  const { env, accountId } = ctx;
  yield* inPages<Machine>(
    (last, limit) =>
      gateOf(env, accountId).exportActivations(
        last && { licenseId: last.licenseId, fingerprint: last.fingerprint },
        limit,
      ),
    (rows) => withKeys(ctx, rows, toActivationLine),
  );
  yield (await gateOf(env, accountId).statistics('0000-00-00')).days.map((day) => ({
    type: 'usage_day' as const,
    ...day,
  }));
  yield* inPages<SeatChange & { licenseId: string }>(
    (last, limit) => gateOf(env, accountId).exportSeatChanges(last?.licenseId ?? '', last?.seq ?? 0, limit),
    (rows) => withKeys(ctx, rows, toSeatChangeLine),
  );
}

async function* exportHistory(ctx: Ctx) {
  const { db, accountId } = ctx;
  yield* inPages<typeof licenseChanges.$inferSelect>(
    (last, limit) =>
      db
        .select()
        .from(licenseChanges)
        .where(
          and(
            eq(licenseChanges.accountId, accountId),
            sql`(license_id, seq) > (${last?.licenseId ?? ''}, ${last?.seq ?? 0})`,
          ),
        )
        .orderBy(asc(licenseChanges.licenseId), asc(licenseChanges.seq))
        .limit(limit),
    (rows) => withKeys(ctx, rows, toChangeLine),
  );
}

/** Yields everything of the account in pages of lines, without secrets. The last line has the numbers of lines. */
export async function* exportLines(ctx: Ctx): AsyncGenerator<object[]> {
  await auditRead(ctx, 'account.export', null);
  const counts: Record<string, number> = {};
  for (const part of [exportAccount, exportLists, exportGate, exportHistory, exportAudit]) {
    for await (const page of part(ctx)) {
      for (const { type } of page) counts[type] = (counts[type] ?? 0) + 1;
      yield page;
    }
  }
  yield [{ type: 'end', counts }];
}
