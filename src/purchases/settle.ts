import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import type { PurchaseRow, StoreRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { newId } from '../shared/text/ids.ts';
import { awaitedOf } from './awaited-offers.ts';
import { commitPurchase } from './commit.ts';
import { findKnown, hasMessage, loadPurchases, loadSurroundings, type StoredFact } from './load.ts';
import { join, keepApart } from './merge.ts';
import { buyerRefOf, decidePurchase, type PurchaseDecision, refsOf } from './rules/decide.ts';
import { factName, replaces, type StoreFact, thingsOf } from './rules/facts.ts';
import { countsFor, withAddress } from './told-address.ts';

// Takes facts into a purchase, decides what its licenses are, and commits all of it. If anything of what it has read has changed
// meanwhile, the commit fails, and it begins again.

export type SoldIn = Pick<StoreRow, 'id' | 'provider'>;

export interface ToSettle {
  /** Purchases to decide again, whatever facts there are. */
  purchaseIds?: string[];
  facts?: StoreFact[];
  messageId?: string | null;
  /** The product that a person names for a purchase that no offer is for. */
  assign?: string;
}

export const withoutBuyer = (fact: StoreFact): StoreFact => {
  if (!('buyer' in fact)) return fact;
  const { buyer: _, ...rest } = fact;
  return rest;
};

/** Returns the facts that are new, or replace others of their names. */
const freshFacts = (
  facts: StoreFact[],
  known: ReadonlyMap<string, StoredFact>,
  { isErased, nowMs }: { isErased: boolean; nowMs: number },
): StoredFact[] => {
  const fresh = new Map<string, StoredFact>();
  for (const sent of facts) {
    const name = factName(sent);
    const earlier = fresh.get(name) ?? known.get(name);
    const fact = isErased || earlier?.isErased ? withoutBuyer(sent) : sent;
    if (earlier && !replaces(fact, earlier.fact)) continue;
    fresh.set(name, {
      name,
      fact,
      purchaseId: null,
      takenAtMs: earlier?.takenAtMs ?? nowMs,
      isErased: earlier?.isErased ?? false,
    });
  }
  return [...fresh.values()];
};

const newPurchase = (ctx: Ctx, store: SoldIn, nowMs: number, id = newId('pur')): PurchaseRow => ({
  id,
  accountId: ctx.accountId,
  storeId: store.id,
  provider: store.provider,
  status: 'pending',
  reason: null,
  orderNumber: null,
  customerEmail: null,
  customerName: null,
  buyerRef: null,
  isTest: false,
  isErased: false,
  assigned: null,
  decideAt: null,
  tries: 0,
  version: 0,
  createdAt: nowMs,
  updatedAt: nowMs,
});

const MINUTE_MS = 60_000;
/** What may succeed later without anybody's doing here. */
const retryAfter = (tries: number): number => Math.min(15 * MINUTE_MS * 2 ** tries, DAY_MS);

const failed = (decision: PurchaseDecision, reason: string): PurchaseDecision => ({
  ...decision,
  status: 'failed',
  reason,
  isGiving: false,
});

/** Lets licenses keep their products. A refund or a dispute takes effect nevertheless. */
const withoutProduct = (decision: PurchaseDecision): PurchaseDecision => ({
  ...(decision.status === 'refunded' || decision.status === 'disputed'
    ? { ...decision, isGiving: false }
    : failed(decision, 'product_not_found')),
  keepsProducts: true,
});

/** Returns from a commit's error why licenses couldn't be made or changed, or null if it has another cause. */
const refusalOf = (error: unknown): string | null => {
  if (violatesNotNull(error, 'licenses.account_id')) return 'license_limit_reached';
  if (violatesNotNull(error, 'licenses.updated_at')) return 'product_not_found';
  const isLimit =
    error instanceof AppError &&
    (error.code === 'storage_limit_reached' || error.code === 'rate_limit_exceeded');
  return isLimit ? error.code : null;
};

/** Whether something that was read has changed since. */
const isConflict = (error: unknown): boolean =>
  violatesNotNull(error, 'license_totals.licenses') ||
  violatesNotNull(error, 'audit_log.account_id') ||
  violatesUnique(error, 'purchase_things.') ||
  violatesUnique(error, 'purchase_licenses.');

/** Returns about how many queries it has made, or which purchases are gone that things lead to, if it hasn't missed them before. */
const settleOnce = async (
  ctx: Ctx,
  store: SoldIn,
  wanted: ToSettle,
  gone: ReadonlySet<string>,
): Promise<number | ReadonlySet<string>> => {
  const { facts = [], purchaseIds = [], messageId = null, assign } = wanted;
  const nowMs = Date.now();
  const names = facts.map(factName);
  const things = [...new Set(facts.flatMap(thingsOf))];
  const known = await findKnown(ctx, store.id, names, things);
  const ids = [...new Set([...purchaseIds, ...known.things.values()])];
  const byName = new Map(known.facts.map((fact) => [fact.name, fact]));
  const isAllKnown =
    purchaseIds.length === 0 &&
    ids.length === 1 &&
    things.every((thing) => known.things.has(thing)) &&
    freshFacts(facts, byName, { isErased: false, nowMs }).length === 0;
  // Copies that come at once would otherwise hinder one another, and each make all of its queries several times.
  const [only = ''] = ids;
  if (isAllKnown && (messageId === null || (await hasMessage(ctx, only, messageId)))) return 3;
  const loaded = await loadPurchases(ctx, ids);
  // A purchase that is gone was merged, and its things lead to another one by now. If they don't, a backup has read the things
  // before the merge and the purchases after it, and the purchase begins again.
  const there = new Set(loaded.rows.map(({ id }) => id));
  const missed = new Set(known.things.values()).difference(there);
  if (!missed.isSubsetOf(gone)) return missed;
  if (facts.length === 0 && loaded.rows.length === 0) return 3;
  const begun = [...missed].map((id) => newPurchase(ctx, store, nowMs, id));
  const [first = newPurchase(ctx, store, nowMs), ...others] = [...loaded.rows, ...begun];
  const isErased = loaded.rows.some((row) => row.isErased);
  const fresh = isAllKnown ? [] : freshFacts(facts, byName, { isErased, nowMs });
  const named = [first, ...others].find((one) => one.assigned !== null)?.assigned ?? null;
  const assigned = assign !== undefined && first.status === 'unmapped' ? assign : named;
  const row = { ...first, isErased, assigned };
  const all = [...new Map([...loaded.facts, ...fresh].map((fact) => [fact.name, fact])).values()];
  const buyerRef = buyerRefOf(all);
  const refs = refsOf(all);
  const around = await loadSurroundings(ctx, store.id, {
    refs,
    licenseIds: loaded.held.map(({ licenseId }) => licenseId),
    buyerRef,
    assigned: row.assigned,
  });
  const apart = keepApart(loaded.held, row.id);
  // The first license of a slot says what the slot is for.
  const earlier = new Map(
    apart.toSorted((a, b) => b.number - a.number).map(({ slot, offer }) => [slot, offer]),
  );
  const buyer = around.buyer && withAddress(around.buyer, row.customerEmail);
  const buyers = buyer && !isErased && countsFor(buyer, row) ? [buyer] : [];
  const { held, decision } = join(
    apart,
    decidePurchase({
      facts: [...all, ...buyers],
      offers: around.offers,
      earlier,
      assigned: row.assigned,
      acceptsTest: around.acceptsTest,
    }),
  );
  const commit = (made: PurchaseDecision, decideAt: number | null) =>
    commitPurchase(ctx, {
      row: { ...row, decideAt, tries: decideAt === null ? 0 : row.tries + 1 },
      others,
      fresh,
      things: things.filter((thing) => !known.things.has(thing)),
      held,
      isMailed: loaded.isMailed,
      around,
      decision: made,
      awaited: awaitedOf(made, refs, around.offers),
      messageId,
      nowMs,
    });
  const later = nowMs + retryAfter(row.tries);
  const isBarred = around.isSuspended && decision.isGiving;
  // A decision that gives nothing may still be refused, because a license would get a product that doesn't exist.
  const commitOrFail = async (made: PurchaseDecision, decideAt: number | null): Promise<number> => {
    try {
      return await commit(made, decideAt);
    } catch (error) {
      const reason = refusalOf(error);
      const isOfProduct = reason === 'product_not_found';
      if (reason === null || made.keepsProducts || !(made.isGiving || isOfProduct)) throw error;
      const left = isOfProduct ? withoutProduct(made) : failed(made, reason);
      return commitOrFail(left, left.status === 'failed' ? later : null);
    }
  };
  return isBarred ? commitOrFail(failed(decision, 'account_suspended'), later) : commitOrFail(decision, null);
};

const ATTEMPTS = 12;

/** Returns about how many queries it has made. */
export const settle = async (ctx: Ctx, store: SoldIn, wanted: ToSettle): Promise<number> => {
  let spent = 0;
  let gone: ReadonlySet<string> = new Set();
  for (let left = ATTEMPTS; left > 0; left--) {
    try {
      const result = await settleOnce(ctx, store, wanted, gone);
      if (typeof result === 'number') return spent + result;
      gone = result;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    spent += 30;
    // Copies that came at once would go on in step.
    await scheduler.wait(Math.random() * 40);
  }
  throw new AppError('unavailable');
};
