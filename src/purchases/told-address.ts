import { sql } from 'drizzle-orm';
import type { PurchaseRow } from '../db/schema.ts';
import type { PurchaseDecision } from './rules/decide.ts';

// A store may tell the address of its customer apart from what they buy. Whoever comes second sees what the first has written: an
// address that is stored finds the purchases that wait for it (`take.ts`), and a purchase that is committed finds the address.

/** When to decide a purchase again: now if it lacks an address that was told since it was read, and otherwise when it is due anyway. */
export const decideIfTold = (
  { storeId, isErased }: PurchaseRow,
  { email, buyerRef }: PurchaseDecision,
  due: unknown,
  nowMs: number,
) =>
  isErased || email !== null || buyerRef === null
    ? sql<number | null>`${due}`
    : sql<number | null>`iif(EXISTS (SELECT 1 FROM purchase_facts
        WHERE store_id = ${storeId} AND name = ${`${buyerRef} buyer`} AND is_erased = 0), ${nowMs}, ${due})`;
