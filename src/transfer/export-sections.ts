import { and, eq, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { getProfile } from '../accounts/profile.ts';
import { toAuditEntry } from '../audit/schemas.ts';
import { firstDatabase, isInFirst } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import {
  apiKeys,
  auditLog,
  type AuditRow,
  licenseChanges,
  licenses,
  offers,
  payments,
  productMails,
  products,
  purchases,
  stores,
  subscriptions,
} from '../db/schema.ts';
import { getPortal } from '../portal/settings.ts';
import { BYTES_OF_PURCHASE, loadSaid } from '../purchases/load.ts';
import { gateOf } from '../shared/objects/address.ts';
import { listAllEndpoints } from '../webhooks/endpoints.ts';
import {
  type ExportLine,
  toAccountLine,
  toActivationLine,
  toApiKeyLine,
  toChangeLine,
  toLicenseLine,
  toOfferLine,
  toPaymentLine,
  toPortalLine,
  toProductLine,
  toProductMailLine,
  toPurchaseLine,
  toSeatChangeLine,
  toStoreLine,
  toWebhookLine,
} from './export-lines.ts';
import { inPages, onePage, readRows, type Section, type ExportSource } from './export-pages.ts';

/** The rows that a gate sends in a page. Each has less than a kilobyte. */
const GATE_ROWS = 1_000;

/** The most purchases in a page: about as many as fit if each has two facts. */
const PURCHASES = 500;

/** Returns the license keys by the ids of licenses. A license that was deleted meanwhile is missing. */
const keysOf = async ({ db, accountId }: Ctx, ids: string[]): Promise<Map<string, string>> => {
  const rows = await db
    .select({ id: licenses.id, licenseKey: licenses.licenseKey })
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), sql`${licenses.id} ${inJson(new Set(ids))}`));
  return new Map(rows.map(({ id, licenseKey }) => [id, licenseKey]));
};

/** Maps rows that belong to licenses, with the license's key, and leaves out those of deleted licenses. */
const withKeys =
  <Row extends { licenseId: string }>(toLine: (row: Row, licenseKey: string) => ExportLine) =>
  async (rows: Row[], ctx: Ctx): Promise<ExportLine[]> => {
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

const account = onePage(async (ctx) => {
  const [profile, rows] = await Promise.all([
    getProfile(ctx),
    ctx.db.select().from(subscriptions).where(eq(subscriptions.accountId, ctx.accountId)),
  ]);
  return [toAccountLine(profile, rows)];
});

const apiKeyLines = inPages(
  ({ db, accountId }, after) =>
    readRows(db, accountId, { table: apiKeys, key: [apiKeys.id], only: sql`deleted_at IS NULL` }, after),
  ({ id }) => [id],
  async (rows, { env, accountId }) => {
    const lastUsedMs = await gateOf(env, accountId).keysLastUsedMs(rows.map(({ id }) => id));
    return rows.map((row, i) => toApiKeyLine(row, lastUsedMs[i] ?? null));
  },
);

const activations = inPages(
  ({ env, accountId }, after) => {
    const [licenseId, fingerprint] = (after ?? []) as string[];
    const position = licenseId && fingerprint ? { licenseId, fingerprint } : null;
    return gateOf(env, accountId).exportActivations(position, GATE_ROWS);
  },
  ({ licenseId, fingerprint }) => [licenseId, fingerprint],
  withKeys(toActivationLine),
);

const seatChanges = inPages(
  ({ env, accountId }, after) => {
    const [licenseId = '', seq = 0] = (after ?? []) as [string?, number?];
    return gateOf(env, accountId).exportSeatChanges(licenseId, seq, GATE_ROWS);
  },
  ({ licenseId, seq }) => [licenseId, seq],
  withKeys(toSeatChangeLine),
);

const usageDays = onePage(async ({ env, accountId }) => {
  const { days } = await gateOf(env, accountId).statistics('0000-00-00');
  return days.map((day) => ({ type: 'usage_day' as const, ...day }));
});

/** A section of a table whose rows have ids of their own. */
const table = <Table extends SQLiteTable & { accountId: SQLiteColumn }, Row extends Table['$inferSelect']>(
  from: ExportSource<Table>,
  positionOf: (row: Row) => (string | number)[],
  toLines: (rows: Row[], ctx: Ctx) => ExportLine[] | Promise<ExportLine[]>,
): Section =>
  inPages(
    async ({ db, accountId }, after) => (await readRows(db, accountId, from, after)) as Row[],
    positionOf,
    toLines,
  );

type Database = Parameters<typeof readRows>[0] | null;

const auditLines = (databaseOfSection: (ctx: Ctx) => Database | Promise<Database>) =>
  inPages(
    async (ctx, after): Promise<AuditRow[]> => {
      const db = await databaseOfSection(ctx);
      return db ? readRows(db, ctx.accountId, { table: auditLog, key: [auditLog.id] }, after) : [];
    },
    ({ id }) => [id],
    (rows) => rows.map((row) => ({ type: 'audit' as const, ...toAuditEntry(row) })),
  );

/** What an export has, in its order. A cursor names the section in which it continues. */
export const SECTIONS = {
  account,
  portal: onePage(async (ctx) => {
    const portal = await getPortal(ctx);
    return portal.updatedAt === 0 ? [] : [toPortalLine(portal)];
  }),
  products: table(
    { table: products, key: [products.code] },
    ({ code }) => [code],
    (rows) => rows.map(toProductLine),
  ),
  product_mails: table(
    { table: productMails, key: [productMails.product] },
    ({ product }) => [product],
    (rows) => rows.map(toProductMailLine),
  ),
  licenses: table(
    { table: licenses, key: [licenses.id] },
    ({ id }) => [id],
    (rows) => rows.map(toLicenseLine),
  ),
  payments: table(
    { table: payments, key: [payments.id] },
    ({ id }) => [id],
    (rows) => rows.map(toPaymentLine),
  ),
  api_keys: apiKeyLines,
  webhooks: onePage(async (ctx) => (await listAllEndpoints(ctx)).toReversed().map(toWebhookLine)),
  stores: table(
    { table: stores, key: [stores.id] },
    ({ id }) => [id],
    (rows) => rows.map(toStoreLine),
  ),
  offers: table(
    { table: offers, key: [offers.storeId, offers.ref] },
    ({ storeId, ref }) => [storeId, ref],
    (rows) => rows.map(toOfferLine),
  ),
  purchases: table(
    { table: purchases, key: [purchases.id], besides: BYTES_OF_PURCHASE, maxRows: PURCHASES },
    ({ id }) => [id],
    async (rows, ctx) => {
      const said = await loadSaid(
        ctx,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => toPurchaseLine(row, said.facts(row.id), said.licenseIds(row.id)));
    },
  ),
  activations,
  usage_days: usageDays,
  seat_changes: seatChanges,
  license_changes: table(
    { table: licenseChanges, key: [licenseChanges.licenseId, licenseChanges.seq] },
    ({ licenseId, seq }) => [licenseId, seq],
    withKeys(toChangeLine),
  ),
  // The first database has the entries about signing in, and the account's own database all others.
  sign_in_audit: auditLines(({ env }) => firstDatabase(env)),
  audit: auditLines(async ({ env, db, accountId }) => ((await isInFirst(env, accountId)) ? null : db)),
} satisfies Record<string, Section>;

export type SectionName = keyof typeof SECTIONS;
export const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[];
