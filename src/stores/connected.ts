import type { Ctx } from '../db/ctx.ts';
import type { StoreRow } from '../db/schema.ts';
import { findKnown } from '../purchases/load.ts';
import { type StoreFact, thingsOf } from '../purchases/rules/facts.ts';
import { groupFacts } from '../purchases/take.ts';
import { DAY_MS } from '../shared/rules/dates.ts';

/** A new store begins with what was sold a day before. */
export const beginningOf = (store: StoreRow): number => store.createdAt - DAY_MS;

/** What was sold long before the store was connected makes no purchase, whatever becomes of it. */
export const ofConnected = async (ctx: Ctx, store: StoreRow, facts: StoreFact[]): Promise<StoreFact[]> => {
  const buyers = facts.filter(({ kind }) => kind === 'buyer');
  const groups = groupFacts(facts.filter(({ kind }) => kind !== 'buyer'));
  if (groups.length === 0) return buyers;
  const things = [...new Set(groups.flat().flatMap(thingsOf))];
  const known = await findKnown(ctx, store.id, [], things);
  const firstMs = beginningOf(store);
  const isNew = (fact: StoreFact) => fact.kind === 'paid' && (fact.atMs ?? firstMs) >= firstMs;
  const isKnown = (fact: StoreFact) => thingsOf(fact).some((thing) => known.things.has(thing));
  return [...groups.filter((group) => group.some(isNew) || group.some(isKnown)).flat(), ...buyers];
};
