import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { purchaseFacts, purchaseMessages, purchases, purchaseThings } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { findKnown } from './load.ts';
import { type BuyerKnown, factName, replaces, type StoreFact, type Thing, thingsOf } from './rules/facts.ts';
import { settle, type SoldIn, withoutBuyer } from './settle.ts';
import { isReplaceable, isTold } from './told-address.ts';

// Takes what a body or a page of the API says into the purchases that it is about.

/** About as many queries as a request may make for purchases. A purchase with many licenses makes some hundred. */
const MAX_COST = 450;
/** Purchases without an address that a fact about their buyer fills in at once. */
const MAX_OF_BUYER = 20;

/** Groups facts by the things that they have in common. */
export const groupFacts = (facts: StoreFact[]): StoreFact[][] => {
  let groups: { things: Set<Thing>; facts: StoreFact[] }[] = [];
  for (const fact of facts) {
    const things = thingsOf(fact);
    const touching = groups.filter((group) => things.some((thing) => group.things.has(thing)));
    const merged = {
      things: new Set([...touching.flatMap((group) => [...group.things]), ...things]),
      facts: [...touching.flatMap((group) => group.facts), fact],
    };
    groups = [...groups.filter((group) => !touching.includes(group)), merged];
  }
  return groups.map((group) => group.facts);
};

/** The customer's purchases that wait for their address, the first of them. */
const findWaiting = async ({ db }: Ctx, store: SoldIn, { about }: BuyerKnown): Promise<string[]> => {
  const waiting = await db
    .select({ id: purchases.id })
    .from(purchases)
    .where(
      and(
        eq(purchases.storeId, store.id),
        eq(purchases.buyerRef, about),
        isNull(purchases.customerEmail),
        isTold(store.id, about, purchases.createdAt),
      ),
    )
    .limit(MAX_OF_BUYER);
  return waiting.map(({ id }) => id);
};

/** Keeps the address of a customer of the store. Returns the purchases that have waited for it. */
const takeBuyer = async (ctx: Ctx, store: SoldIn, fact: BuyerKnown): Promise<string[]> => {
  const { db, accountId } = ctx;
  const name = factName(fact);
  const { facts } = await findKnown(ctx, store.id, [name], []);
  const [known] = facts;
  if (!known || replaces(fact, known.fact)) {
    const text = JSON.stringify(fact);
    await db
      .insert(purchaseFacts)
      .values({ accountId, storeId: store.id, name, fact: text, takenAt: Date.now() })
      .onConflictDoUpdate({
        target: [purchaseFacts.storeId, purchaseFacts.name],
        set: { fact: text },
        setWhere: isReplaceable(store.id, fact),
      });
  }
  return findWaiting(ctx, store, fact);
};

/** Notes that a message is about the purchases of facts that say nothing new, as settling does for those that do. */
const noteMessage = async (
  { db, accountId }: Ctx,
  store: SoldIn,
  facts: StoreFact[],
  messageId: string,
): Promise<void> => {
  const row = selectRow(purchaseMessages, { accountId, purchaseId: sql`purchase_id`, messageId });
  const isOfFacts = sql`store_id = ${store.id} AND thing ${inJson(facts.flatMap(thingsOf))}`;
  await db
    .insert(purchaseMessages)
    .select(sql`${row} FROM ${purchaseThings} WHERE ${isOfFacts}`)
    .onConflictDoNothing();
};

/** Drops groups of which everything is known already, in one query for all of them, and another one to note their message. */
const unknownGroups = async (
  ctx: Ctx,
  store: SoldIn,
  groups: StoreFact[][],
  messageId: string | null,
): Promise<StoreFact[][]> => {
  const names = groups.flat().map(factName);
  const things = [...new Set(groups.flat().flatMap(thingsOf))];
  const known = await findKnown(ctx, store.id, names, things);
  const byName = new Map(known.facts.map((one) => [one.name, one]));
  const isKnown = (fact: StoreFact) => {
    const earlier = byName.get(factName(fact));
    if (!earlier) return false;
    return !replaces(earlier.isErased ? withoutBuyer(fact) : fact, earlier.fact);
  };
  const ofOne = (facts: StoreFact[]) =>
    new Set(facts.flatMap(thingsOf).map((thing) => known.things.get(thing) ?? null)).size === 1;
  const unknown = groups.filter((facts) => !(ofOne(facts) && facts.every(isKnown)));
  const dropped = groups.filter((facts) => !unknown.includes(facts)).flat();
  if (messageId !== null && dropped.length > 0) await noteMessage(ctx, store, dropped, messageId);
  return unknown;
};

/**
 * Takes facts into purchases, as many as a request may. Returns whether all of them were taken: a repeat goes on with those that
 * are left.
 */
export const takeFacts = async (
  ctx: Ctx,
  store: SoldIn,
  facts: StoreFact[],
  messageId: string | null,
): Promise<boolean> => {
  const buyers = facts.filter((fact) => fact.kind === 'buyer');
  const others = groupFacts(facts.filter((fact) => fact.kind !== 'buyer'));
  const isSingle = others.length === 1;
  const groups = isSingle
    ? others
    : others.length === 0
      ? []
      : await unknownGroups(ctx, store, others, messageId);
  let cost = 0;
  for (const group of groups) {
    if (cost > MAX_COST) return false;
    cost += await settle(ctx, store, { facts: group, messageId });
  }
  for (const fact of buyers) {
    if (cost > MAX_COST) return false;
    const waiting = await takeBuyer(ctx, store, fact);
    for (const id of waiting) cost += await settle(ctx, store, { purchaseIds: [id], messageId });
    cost += 3;
    if (waiting.length === 0) continue;
    // There are more, or one of these was merged into another one. Some have their address now, so this ends.
    const left = await findWaiting(ctx, store, fact);
    if (left.some((id) => !waiting.includes(id))) return false;
  }
  return true;
};
