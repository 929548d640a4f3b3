import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { auditWork } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { inJson, jsonChunks, jsonValues } from '../db/json-rows.ts';
import { accounts, licenseChanges, licenses, type LicenseValues, products } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { type FeedChange, eventChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { disownStatus } from '../licenses/disown-status.ts';
import { roomForLicenses } from '../licenses/limit.ts';
import { roomForProducts } from '../products/products.ts';
import type { AuditDetails } from '../shared/rules/audit.ts';
import { byField, CHANGEABLE_FIELDS, columnOf, LICENSE_COLUMNS } from '../shared/rules/license-fields.ts';
import { MAX_PRODUCTS } from '../shared/rules/terms.ts';
import { licenseEvent } from '../shared/text/events.ts';
import { changedFields, type PlannedLicense, type PlannedProduct } from './plan.ts';

// Reads what a batch of lines needs, and commits what the lines change. Each statement takes its rows as JSON, because
// D1 binds at most 100 values.

export const lookUp = async (
  ctx: Ctx,
  licenseKeys: Iterable<string>,
  codes: Iterable<string>,
  nowMs: number,
) => {
  const { db, accountId } = ctx;
  const [[account], licenseRows, productRows] = await db.batch([
    db
      .select({
        email: accounts.email,
        room: roomForLicenses(ctx, nowMs).as('room'),
        productRoom: roomForProducts(ctx).as('product_room'),
      })
      .from(accounts)
      .where(eq(accounts.id, accountId)),
    db
      .select({
        ...getTableColumns(licenses),
        historySeq: sql<number>`coalesce((
          SELECT max(seq) FROM license_changes
          WHERE account_id = ${accountId} AND license_id = licenses.id), 0)`.as('history_seq'),
      })
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), sql`${licenses.licenseKey} ${inJson(licenseKeys)}`)),
    db
      .select()
      .from(products)
      .where(and(eq(products.accountId, accountId), sql`${products.code} ${inJson(codes)}`)),
  ]);
  if (!account) throw new Error(`The credential's account ${accountId} is not in the database.`);
  return {
    email: account.email,
    room: account.room,
    productRoom: account.productRoom,
    hasProducts: account.productRoom < MAX_PRODUCTS,
    licenses: licenseRows.map(({ historySeq, seq, ...row }) => ({ row, seq, historySeq })),
    products: productRows,
  };
};

type Statement = BatchItem<'sqlite'>;

/**
 * Whether the products that the plan gives to licenses still exist. They can't be deleted once a license names them. If the plan
 * has found none, which makes any text a product's label, whether there is still no other.
 */
const productsExist = ({ accountId }: Ctx, planned: PlannedProduct[], hasProducts: boolean) => {
  const codes = planned.map(({ after }) => after.code);
  const isPlanned = hasProducts ? sql`code ${inJson(codes)}` : sql`true`;
  return sql`(SELECT count(*) FROM products WHERE account_id = ${accountId} AND ${isPlanned}) = ${codes.length}`;
};

/**
 * Inserts licenses, all or none: the account's id of a license for which the plan has no room is null, which the column
 * refuses. It is also null if `exist` no longer holds.
 */
const insertLicenses = (
  ctx: Ctx,
  rows: LicenseValues[],
  { exist, importId, nowMs }: { exist: SQL; importId: string; nowMs: number },
): Statement[] =>
  jsonChunks(rows).map((json) =>
    ctx.db.insert(licenses).select(sql`
      WITH room(licenses) AS MATERIALIZED (SELECT iif(${exist}, ${roomForLicenses(ctx, nowMs)}, 0))
      ${selectRow(licenses, {
        ...jsonValues(...LICENSE_COLUMNS),
        seq: null,
        importId,
        // JSON numbers its elements from 0.
        accountId: sql`iif(key < (SELECT licenses FROM room), ${ctx.accountId}, NULL)`,
      })}
      FROM json_each(${json})`),
  );

const pickFields = (row: LicenseValues, fields: ReturnType<typeof changedFields>) =>
  byField(fields, (field) => row[columnOf(field)]);

/** A license that is found by its key keeps it. */
const UPDATED_COLUMNS = CHANGEABLE_FIELDS.filter((field) => field !== 'license_key').map(columnOf);

/**
 * Updates licenses with their history, all or none: if another change came first, its history row has the same number. If
 * the license is gone, a customer was erased from it, or `exist` no longer holds, its account's id is null.
 */
const updateLicenses = (
  { db, accountId, actor }: Ctx,
  planned: (PlannedLicense & { before: LicenseValues })[],
  { exist, importId }: { exist: SQL; importId: string },
): Statement[] => {
  const rows = planned.map(({ before, after, seq, historySeq }) => {
    const fields = changedFields(before, after);
    const history = {
      before: pickFields(before, fields),
      after: { ...pickFields(after, fields), by: actor, import_id: importId },
    };
    return { ...after, seq, historySeq: historySeq + 1, readAt: before.updatedAt, ...history };
  });
  return jsonChunks(rows).flatMap((json) => [
    db.insert(licenseChanges).select(sql`
      ${selectRow(licenseChanges, {
        accountId: sql`(
          SELECT account_id FROM licenses
          WHERE account_id = ${accountId} AND id = value ->> 'id' AND updated_at = value ->> 'readAt'
            AND ${exist})`,
        licenseId: sql`value ->> 'id'`,
        seq: sql`value ->> 'historySeq'`,
        at: sql`value ->> 'updatedAt'`,
        ...jsonValues('before', 'after'),
      })}
      FROM json_each(${json})`),
    // With an index on the account, SQLite would read all of its licenses. The unary plus rules that out.
    db
      .update(licenses)
      .set(jsonValues(...UPDATED_COLUMNS, 'updatedAt'))
      .from(sql`json_each(${json})`)
      .where(
        sql`licenses.seq = value ->> 'seq' AND +licenses.account_id = ${accountId}
          AND +licenses.id = value ->> 'id'`,
      ),
  ]);
};

/** The account's id of a product for which there is no room is null, which the column refuses. */
const putProducts = (ctx: Ctx, planned: PlannedProduct[]): Statement[] => {
  const insert = (rows: PlannedProduct[], accountId: SQL) =>
    jsonChunks(rows.map(({ after }) => after)).map((json) =>
      ctx.db.insert(products).select(sql`
        WITH room(products) AS MATERIALIZED (SELECT ${roomForProducts(ctx)})
        ${selectRow(products, { ...jsonValues('code', 'name', 'terms', 'createdAt', 'updatedAt'), accountId })}
        FROM json_each(${json}) WHERE true`),
    );
  const isNew = ({ before }: PlannedProduct) => before === null;
  const ifRoom = sql`iif(key < (SELECT products FROM room), ${ctx.accountId}, NULL)`;
  const replaced = planned.filter((product) => !isNew(product));
  return [
    ...insert(planned.filter(isNew), ifRoom),
    ...insert(replaced, sql`${ctx.accountId}`).map((statement) =>
      statement.onConflictDoUpdate({
        target: [products.accountId, products.code],
        set: { name: sql`excluded.name`, terms: sql`excluded.terms`, updatedAt: sql`excluded.updated_at` },
      }),
    ),
  ];
};

/**
 * Commits a plan, all or nothing. Throws if something was changed since it was read. The first commit of an import inserts its
 * entry in the audit log.
 */
export const commitPlan = async (
  ctx: Ctx,
  plan: { licenses: PlannedLicense[]; products: PlannedProduct[]; hasProducts: boolean },
  { hasEvents, entry }: { hasEvents: boolean; entry: { id: string; details: AuditDetails | null } },
  nowMs: number,
): Promise<boolean> => {
  const created = plan.licenses.filter(({ before }) => before === null).map(({ after }) => after);
  const updated = plan.licenses.flatMap((license) => {
    const { before, after } = license;
    // A line may have undone what another one did.
    return before !== null && changedFields(before, after).length > 0 ? [{ ...license, before }] : [];
  });
  const put = plan.products.filter(({ before, after }) => before !== after);
  const [first, ...changes]: FeedChange[] = [
    ...put.map(({ after: { code } }): FeedChange => ({ kind: 'product', ref: code })),
    ...[...created, ...updated.map(({ after }) => after)].map(({ id }): FeedChange => ({
      kind: 'license',
      ref: id,
    })),
    ...(hasEvents ? created.map((row) => eventChange(licenseEvent('license.created', nowMs, row))) : []),
  ];
  if (!first) return false;
  const restated = updated.filter(({ before, after }) => before.status !== after.status);
  const exist = productsExist(ctx, plan.products, plan.hasProducts);
  const facts = { exist, importId: entry.id, nowMs };
  const [statement, ...others] = [
    ...putProducts(ctx, put),
    ...insertLicenses(ctx, created, facts),
    ...updateLicenses(ctx, updated, facts),
    ...(restated.length > 0
      ? [
          disownStatus(
            ctx,
            restated.map(({ after }) => after.id),
          ),
        ]
      : []),
    ...(entry.details ? [auditWork(ctx, entry.id, 'license.import', entry.details)] : []),
  ];
  if (!statement) return false;
  await commit(ctx, [statement, ...others], [first, ...changes]);
  return true;
};
