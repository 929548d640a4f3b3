import { and, eq, inArray, sql } from 'drizzle-orm';
import type { AccountDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { jsonValues } from '../db/json-rows.ts';
import { type OfferRow, offers, type PurchaseRow, purchases, purchaseThings } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import type { Statement } from '../gate/feed/write.ts';
import type { PurchaseDecision } from './rules/decide.ts';

// A purchase that waits for an offer is also known by the offer's id, and by when it was saved if it doesn't fit. Whoever comes
// second sees what the first has written: an offer that is saved finds the purchases, and a purchase that is committed finds the
// offer.

const KIND = 'missing-offer';
/** What sorts right after a slash. */
const AFTER = '0';

/** The most purchases that a turn lets be decided. */
const MAX_DECIDED = 500;

/** Why a purchase waits for an offer: there is none, or what it gives doesn't fit what was sold. */
const REASONS = ['no_offer', 'period_unknown', 'too_many_licenses'];

type Reason = Pick<PurchaseDecision, 'reason'>;

export const waitsForOffer = ({ reason }: Reason): boolean => reason !== null && REASONS.includes(reason);

/** An id for which a purchase awaits an offer, and when the offer was saved that it has read. Null if there was none. */
export interface AwaitedOffer {
  ref: string;
  savedAt: number | null;
}

/** If an offer is missing, saving another one again changes nothing. */
export const awaitedOf = (
  decision: Reason,
  refs: string[],
  read: ReadonlyMap<string, OfferRow>,
): AwaitedOffer[] => {
  if (!waitsForOffer(decision)) return [];
  const awaited = refs.map((ref) => ({ ref, savedAt: read.get(ref)?.updatedAt ?? null }));
  return decision.reason === 'no_offer' ? awaited.filter(({ savedAt }) => savedAt === null) : awaited;
};

/** When to decide such a purchase again: now if one of the offers was saved since they were read, and never otherwise. */
export const decideAtOf = ({ storeId }: PurchaseRow, awaited: AwaitedOffer[], nowMs: number) =>
  sql<number | null>`iif(EXISTS (
    SELECT 1 FROM json_each(${JSON.stringify(awaited)}) CROSS JOIN offers ON store_id = ${storeId} AND ref = value ->> 'ref'
    WHERE updated_at IS NOT value ->> 'savedAt'), ${nowMs}, NULL)`;

/** Replaces the ids by which the purchase awaits offers. There are none unless it waits for one. */
export const writeAwaited = (
  { db, accountId }: Ctx,
  { id, storeId }: PurchaseRow,
  awaited: AwaitedOffer[],
): Statement[] => {
  const things = awaited.map(({ ref, savedAt }) => ({
    thing: [KIND, ref, id, savedAt].filter((part) => part !== null).join('/'),
    ref,
  }));
  const row = selectRow(purchaseThings, {
    accountId,
    storeId,
    ...jsonValues('thing', 'ref'),
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
    ...(things.length > 0
      ? [db.insert(purchaseThings).select(sql`${row} FROM json_each(${JSON.stringify(things)})`)]
      : []),
  ];
};

/**
 * Lets purchases be decided that have waited for an offer, as many as a turn may. Each is forgotten then, since its decision writes
 * what it still awaits. The offer is due again until only those wait that were decided by it as it is now.
 */
export const letDecide = ({ db }: Pick<Ctx, 'db'>, storeId: string, ref: string, nowMs: number) => {
  const prefix = `${KIND}/${ref}`;
  const savedAt = sql`(SELECT updated_at FROM offers WHERE store_id = ${storeId} AND ref = ${ref})`;
  const areWaiting = sql`store_id = ${storeId} AND thing > ${`${prefix}/`} AND thing < ${prefix + AFTER} AND ref = ${ref}
    AND thing NOT GLOB '*/' || ${savedAt}`;
  const turn = (column: 'purchase_id' | 'thing') =>
    sql`(SELECT ${sql.raw(column)} FROM purchase_things WHERE ${areWaiting} ORDER BY thing LIMIT ${MAX_DECIDED})`;
  return [
    db
      .update(purchases)
      .set({ decideAt: nowMs })
      .where(and(inArray(purchases.reason, REASONS), sql`${purchases.id} IN ${turn('purchase_id')}`)),
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
