import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { storeMessages } from '../db/schema.ts';
import { factName, type StoreFact } from './rules/facts.ts';

// The body of a message about somebody who was erased is dropped, but only once it was read: until then, it may be the only record
// of a sale.

/** Whether a body was read. What is still to be asked stands beside it. */
export const wasRead = or(isNull(storeMessages.readAt), isNotNull(storeMessages.asks));

/** Drops a body that was read if one of its facts is about somebody who was erased. */
export const dropIfErased = ({ db }: Ctx, storeId: string, messageId: string, facts: StoreFact[]) => {
  const isOfErased = sql`EXISTS (
    SELECT 1 FROM purchase_facts LEFT JOIN purchases ON purchases.id = purchase_facts.purchase_id
    WHERE purchase_facts.store_id = ${storeId} AND purchase_facts.name ${inJson(facts.map(factName))}
      AND (purchase_facts.is_erased OR purchases.is_erased))`;
  return db
    .update(storeMessages)
    .set({ body: null })
    .where(and(eq(storeMessages.id, messageId), wasRead, isOfErased));
};
