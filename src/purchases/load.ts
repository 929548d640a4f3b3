import { and, eq, sql } from 'drizzle-orm';
import { isServing } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import {
  accounts,
  licenses,
  type LicenseRow,
  type OfferRow,
  offers,
  products,
  purchaseFacts,
  purchaseLicenses,
  type PurchaseLicenseRow,
  purchaseMails,
  purchaseMessages,
  type PurchaseRow,
  purchases,
  purchaseThings,
  stores,
} from '../db/schema.ts';
import type { ProductTerms } from '../shared/rules/terms.ts';
import type { StoreFact, Thing } from './rules/facts.ts';
import type { KnownFact } from './rules/payments.ts';

// Reads what is known of purchases, in few queries whatever their number.

export interface StoredFact extends KnownFact {
  name: string;
  purchaseId: string | null;
  isErased: boolean;
}

const toStoredFact = (row: typeof purchaseFacts.$inferSelect): StoredFact => ({
  name: row.name,
  purchaseId: row.purchaseId,
  isErased: row.isErased,
  fact: JSON.parse(row.fact) as StoreFact,
  takenAtMs: row.takenAt,
});

/** Returns the facts of a store that are known by their names, and the purchases by which things are known. */
export const findKnown = async ({ db }: Ctx, storeId: string, names: string[], things: Thing[]) => {
  const [facts, found] = await db.batch([
    db
      .select()
      .from(purchaseFacts)
      .where(and(eq(purchaseFacts.storeId, storeId), sql`${purchaseFacts.name} ${inJson(names)}`)),
    db
      .select({ thing: purchaseThings.thing, purchaseId: purchaseThings.purchaseId })
      .from(purchaseThings)
      .where(and(eq(purchaseThings.storeId, storeId), sql`${purchaseThings.thing} ${inJson(things)}`)),
  ]);
  return { facts: facts.map(toStoredFact), things: new Map(found.map((row) => [row.thing, row.purchaseId])) };
};

/** Whether the purchase is known to come from the message. */
export const hasMessage = async ({ db }: Ctx, purchaseId: string, messageId: string): Promise<boolean> => {
  const found = await db
    .select({ id: purchaseMessages.messageId })
    .from(purchaseMessages)
    .where(and(eq(purchaseMessages.purchaseId, purchaseId), eq(purchaseMessages.messageId, messageId)));
  return found.length > 0;
};

export interface LoadedPurchases {
  rows: PurchaseRow[];
  facts: StoredFact[];
  held: PurchaseLicenseRow[];
  isMailed: boolean;
}

export const loadPurchases = async ({ db }: Ctx, ids: string[]): Promise<LoadedPurchases> => {
  if (ids.length === 0) return { rows: [], facts: [], held: [], isMailed: false };
  const [rows, facts, held, mails] = await db.batch([
    db
      .select()
      .from(purchases)
      .where(sql`${purchases.id} ${inJson(ids)}`),
    db
      .select()
      .from(purchaseFacts)
      .where(sql`${purchaseFacts.purchaseId} ${inJson(ids)}`),
    db
      .select()
      .from(purchaseLicenses)
      .where(sql`${purchaseLicenses.purchaseId} ${inJson(ids)}`),
    db
      .select({ number: purchaseMails.number })
      .from(purchaseMails)
      .where(sql`${purchaseMails.purchaseId} ${inJson(ids)}`)
      .limit(1),
  ]);
  return {
    rows: rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    facts: facts.map(toStoredFact),
    held,
    isMailed: mails.length > 0,
  };
};

/** About how many bytes `loadSaid` reads of a purchase, for a query of purchases. */
export const BYTES_OF_PURCHASE = sql`(
  SELECT coalesce(sum(octet_length(${purchaseFacts.fact}) + 200), 0) FROM ${purchaseFacts}
  WHERE ${purchaseFacts.purchaseId} = ${purchases.id}) + (
  SELECT 40 * count(*) FROM ${purchaseLicenses} WHERE ${purchaseLicenses.purchaseId} = ${purchases.id})`;

/** Reads what stores have said of purchases, and which licenses these have. */
export const loadSaid = async ({ db }: Ctx, ids: string[]) => {
  const [rows, held] = await db.batch([
    db
      .select()
      .from(purchaseFacts)
      .where(sql`${purchaseFacts.purchaseId} ${inJson(ids)}`),
    db
      .select({ purchaseId: purchaseLicenses.purchaseId, licenseId: purchaseLicenses.licenseId })
      .from(purchaseLicenses)
      .where(sql`${purchaseLicenses.purchaseId} ${inJson(ids)}`),
  ]);
  const factsOf = Map.groupBy(rows.map(toStoredFact), ({ purchaseId }) => purchaseId);
  const heldOf = Map.groupBy(held, ({ purchaseId }) => purchaseId);
  return {
    facts: (id: string): StoredFact[] => factsOf.get(id) ?? [],
    licenseIds: (id: string): string[] => (heldOf.get(id) ?? []).map(({ licenseId }) => licenseId),
  };
};

/** What a decision needs besides the facts. */
export interface Surroundings {
  offers: Map<string, OfferRow>;
  acceptsTest: boolean;
  /** Whether the account is suspended, or about to be erased. */
  isSuspended: boolean;
  terms: Map<string, ProductTerms>;
  licenses: Map<string, LicenseRow>;
  buyer: StoredFact | null;
}

interface Wanted {
  refs: string[];
  licenseIds: string[];
  buyerRef: Thing | null;
  assigned: string | null;
}

export const loadSurroundings = async (
  { db, accountId }: Ctx,
  storeId: string,
  { refs, licenseIds, buyerRef, assigned }: Wanted,
): Promise<Surroundings> => {
  const termsOf = { code: products.code, terms: products.terms };
  const [sold, found, named, rows, [store], [account], buyers] = await db.batch([
    db
      .select()
      .from(offers)
      .where(and(eq(offers.storeId, storeId), sql`${offers.ref} ${inJson(refs)}`)),
    db
      .select(termsOf)
      .from(products)
      .where(
        and(
          eq(products.accountId, accountId),
          sql`${products.code} IN (SELECT product FROM offers WHERE store_id = ${storeId} AND ref ${inJson(refs)})`,
        ),
      ),
    db
      .select(termsOf)
      .from(products)
      .where(and(eq(products.accountId, accountId), eq(products.code, assigned ?? ''))),
    db
      .select()
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), sql`${licenses.id} ${inJson(licenseIds)}`)),
    db.select({ acceptTest: stores.acceptTest }).from(stores).where(eq(stores.id, storeId)),
    db
      .select({ suspendedAt: accounts.suspendedAt, eraseAt: accounts.eraseAt })
      .from(accounts)
      .where(eq(accounts.id, accountId)),
    db
      .select()
      .from(purchaseFacts)
      .where(and(eq(purchaseFacts.storeId, storeId), eq(purchaseFacts.name, `${buyerRef ?? ''} buyer`))),
  ]);
  return {
    offers: new Map(sold.map((row) => [row.ref, row])),
    acceptsTest: store?.acceptTest ?? false,
    isSuspended: account !== undefined && !isServing(account),
    terms: new Map([...found, ...named].map(({ code, terms }) => [code, terms])),
    licenses: new Map(rows.map((row) => [row.id, row])),
    buyer: buyers.map(toStoredFact)[0] ?? null,
  };
};
