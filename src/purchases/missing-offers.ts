import { and, eq, sql } from 'drizzle-orm';
import type { AccountDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { offers, type PurchaseRow, purchases, purchaseThings } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import type { Statement } from '../gate/feed/write.ts';

// An unmapped purchase is also known by the ids for which it has found no offer. Whoever comes second sees what the first has
// written: an offer that is saved finds the purchases, and a purchase that is committed finds the offer.

const KIND = 'missing-offer';
/** What sorts right after a slash. */
const AFTER = '0';

/** The most purchases that a turn lets be decided. */
const MAX_DECIDED = 500;

/** When to decide an unmapped purchase again: now if one of the offers has come since they were read, and never otherwise. */
export const decideAtOf = ({ storeId }: PurchaseRow, missing: string[], nowMs: number) =>
  sql<number | null>`iif(EXISTS (
    SELECT 1 FROM offers WHERE store_id = ${storeId} AND ref ${inJson(missing)}), ${nowMs}, NULL)`;

/** Replaces the ids without an offer by which the purchase is known. There are none unless it is unmapped. */
export const writeMissing = (
  { db, accountId }: Ctx,
  { id, storeId }: PurchaseRow,
  missing: string[],
): Statement[] => {
  const row = selectRow(purchaseThings, {
    accountId,
    storeId,
    thing: sql`${`${KIND}/`} || value || ${`/${id}`}`,
    ref: sql`value`,
    purchaseId: id,
  });
  return [
    db
      .delete(purchaseThings)
      .where(
        and(
          eq(purchaseThings.purchaseId, id),
          sql`${purchaseThings.thing} > ${`${KIND}/`} AND ${purchaseThings.thing} < ${KIND + AFTER}`,
        ),
      ),
    ...(missing.length > 0
      ? [db.insert(purchaseThings).select(sql`${row} FROM json_each(${JSON.stringify(missing)})`)]
      : []),
  ];
};

/**
 * Lets purchases be decided that have waited for an offer, as many as a turn may. Each is forgotten then, since its decision writes
 * what is still missing. The offer is due again until none waits.
 */
export const letDecide = ({ db }: Pick<Ctx, 'db'>, storeId: string, ref: string, nowMs: number) => {
  const prefix = `${KIND}/${ref}`;
  const areWaiting = sql`store_id = ${storeId} AND thing > ${`${prefix}/`} AND thing < ${prefix + AFTER} AND ref = ${ref}`;
  const turn = (column: 'purchase_id' | 'thing') =>
    sql`(SELECT ${sql.raw(column)} FROM purchase_things WHERE ${areWaiting} ORDER BY thing LIMIT ${MAX_DECIDED})`;
  return [
    db
      .update(purchases)
      .set({ decideAt: nowMs })
      .where(and(eq(purchases.status, 'unmapped'), sql`${purchases.id} IN ${turn('purchase_id')}`)),
    db
      .delete(purchaseThings)
      .where(and(eq(purchaseThings.storeId, storeId), sql`${purchaseThings.thing} IN ${turn('thing')}`)),
    db
      .update(offers)
      .set({
        decideAt: sql`iif(EXISTS (SELECT 1 FROM purchase_things WHERE ${areWaiting}), ${nowMs}, NULL)`,
      })
      .where(and(eq(offers.storeId, storeId), eq(offers.ref, ref))),
  ] as const;
};

/**
 * Writes the ids of every unmapped purchase that has none, as the migration did that has begun with them: a backup of a release
 * before that has no such rows. A later release, which restores no such backup, can drop this.
 */
export const writeAllMissing = (db: AccountDatabase) =>
  db.run(sql`INSERT OR IGNORE INTO purchase_things (account_id, store_id, thing, ref, purchase_id)
    SELECT DISTINCT sold.account_id, sold.store_id, ${KIND} || '/' || refs.value || '/' || sold.id, refs.value, sold.id
    FROM purchases AS sold JOIN purchase_facts AS told ON told.purchase_id = sold.id,
      json_each(iif(json_valid(told.fact), told.fact, '{}'), '$.lines') AS lines, json_each(lines.value, '$.refs') AS refs
    WHERE sold.status = 'unmapped'`);
