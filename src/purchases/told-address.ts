import { sql, type SQLWrapper } from 'drizzle-orm';
import type { PurchaseRow } from '../db/schema.ts';
import type { StoredFact } from './load.ts';
import type { PurchaseDecision } from './rules/decide.ts';
import type { BuyerKnown, Thing } from './rules/facts.ts';

// A store may tell the address of its customer apart from what they buy. Whoever comes second sees what the first has written: an
// address that is stored finds the purchases that wait for it (`take.ts`), and a purchase that is committed finds the address. Of a
// customer who was erased, it counts only for what they have bought since.

/** Whether an address was told that counts for a purchase of then. */
export const isTold = (storeId: string, customer: Thing, createdAt: SQLWrapper | number) =>
  sql`EXISTS (SELECT 1 FROM purchase_facts WHERE store_id = ${storeId} AND name = ${`${customer} buyer`}
    AND (is_erased = 0 OR (fact ->> '$.email' <> '' AND taken_at < ${createdAt})))`;

/** The same of a fact that was read. */
export const countsFor = ({ fact, isErased, takenAtMs }: StoredFact, { createdAt }: PurchaseRow): boolean =>
  !isErased || (fact.kind === 'buyer' && fact.email !== '' && takenAtMs < createdAt);

/** A purchase keeps the address that it has, as its licenses do, even if the store's customer changes theirs. */
export const withAddress = (known: StoredFact, email: string | null): StoredFact =>
  known.fact.kind === 'buyer' && email !== null ? { ...known, fact: { ...known.fact, email } } : known;

/**
 * Whether what is stored of the customer may be replaced: not by an older fact, even if the newer one has come only meanwhile, and not
 * once they were erased, unless they have bought something since.
 */
export const isReplaceable = (storeId: string, { about, version = 0 }: BuyerKnown) =>
  sql`coalesce(fact ->> '$.version', 0) <= ${version} AND (is_erased = 0 OR EXISTS (
    SELECT 1 FROM purchases AS bought WHERE bought.store_id = ${storeId}
    AND bought.buyer_ref = ${about} AND bought.created_at > purchase_facts.taken_at))`;

/** When to decide a purchase again: now if it lacks an address that was told since it was read, and otherwise when it is due anyway. */
export const decideIfTold = (
  { storeId, isErased, createdAt }: PurchaseRow,
  { email, buyerRef }: PurchaseDecision,
  due: unknown,
  nowMs: number,
) =>
  isErased || email !== null || buyerRef === null
    ? sql<number | null>`${due}`
    : sql<number | null>`iif(${isTold(storeId, buyerRef, createdAt)}, ${nowMs}, ${due})`;
