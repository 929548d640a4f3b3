import { and, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { purchaseFacts, purchases, purchaseThings, type StoreRow } from '../db/schema.ts';
import { findKnown } from '../purchases/load.ts';
import { factName, type StoreFact, thingsOf } from '../purchases/rules/facts.ts';
import { groupFacts } from '../purchases/take.ts';
import { DAY_MS } from '../shared/rules/dates.ts';

/** A new store begins with what was sold a day before. */
export const beginningOf = (store: StoreRow): number => store.createdAt - DAY_MS;

const isOf = (facts: StoreFact[], known: ReadonlySet<string>): boolean =>
  facts.some((fact) => thingsOf(fact).some((thing) => known.has(thing)));

/** Returns the names of payments, with their times, for which there are licenses by a store that the account has deleted. */
const soldBefore = async ({ db, accountId }: Ctx, store: StoreRow, facts: StoreFact[]) => {
  const refs = facts.map(({ about }) => about.slice(about.indexOf('/') + 1));
  const sold = await db
    .select({ name: purchaseFacts.name, atMs: sql<number | null>`${purchaseFacts.fact} ->> '$.atMs'` })
    .from(purchaseThings)
    .innerJoin(purchases, eq(purchases.id, purchaseThings.purchaseId))
    .innerJoin(
      purchaseFacts,
      and(
        eq(purchaseFacts.storeId, purchaseThings.storeId),
        sql`${purchaseFacts.name} = ${purchaseThings.thing} || ' paid'`,
      ),
    )
    .where(
      and(
        eq(purchaseThings.accountId, accountId),
        sql`${purchaseThings.ref} ${inJson(refs)}`,
        eq(purchases.provider, store.provider),
        sql`NOT EXISTS (SELECT 1 FROM stores WHERE id = ${purchaseThings.storeId})`,
        sql`EXISTS (SELECT 1 FROM purchase_licenses AS made WHERE made.purchase_id = ${purchases.id})`,
      ),
    );
  return new Set(sold.map(({ name, atMs }) => `${name} ${atMs}`));
};

/**
 * Leaves out what was sold here before, in a store that was deleted and added again: each buyer has a license. The time of a
 * payment tells it from that of another shop, whose numbers may be the same.
 */
export const withoutSold = async (ctx: Ctx, store: StoreRow, facts: StoreFact[]): Promise<StoreFact[]> => {
  const isPaid = ({ kind }: StoreFact) => kind === 'paid';
  const old = facts.filter((fact) => isPaid(fact) && (fact.atMs ?? Infinity) < store.createdAt);
  if (old.length === 0) return facts;
  const sold = await soldBefore(ctx, store, old);
  if (sold.size === 0) return facts;
  const buyers = facts.filter(({ kind }) => kind === 'buyer');
  const groups = groupFacts(facts.filter(({ kind }) => kind !== 'buyer'));
  const { things } = await findKnown(ctx, store.id, [], [...new Set(facts.flatMap(thingsOf))]);
  const known = new Set(things.keys());
  const isSold = (fact: StoreFact) => sold.has(`${factName(fact)} ${fact.atMs}`);
  const isNew = (group: StoreFact[]) => {
    const paid = group.filter(isPaid);
    return paid.length === 0 || !paid.every(isSold) || isOf(group, known);
  };
  return [...groups.filter(isNew).flat(), ...buyers];
};

/** What was sold long before the store was connected makes no purchase, whatever becomes of it. */
export const ofConnected = async (ctx: Ctx, store: StoreRow, facts: StoreFact[]): Promise<StoreFact[]> => {
  const buyers = facts.filter(({ kind }) => kind === 'buyer');
  const groups = groupFacts(facts.filter(({ kind }) => kind !== 'buyer'));
  if (groups.length === 0) return buyers;
  const { things } = await findKnown(ctx, store.id, [], [...new Set(groups.flat().flatMap(thingsOf))]);
  const known = new Set(things.keys());
  const firstMs = beginningOf(store);
  const isNew = (fact: StoreFact) => fact.kind === 'paid' && (fact.atMs ?? firstMs) >= firstMs;
  const connected = groups.filter((group) => group.some(isNew) || isOf(group, known)).flat();
  return [...(await withoutSold(ctx, store, connected)), ...buyers];
};
