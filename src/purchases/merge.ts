import { and, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import {
  purchaseFacts,
  purchaseLicenses,
  type PurchaseLicenseRow,
  purchaseMessages,
  type PurchaseRow,
  purchases,
  purchaseThings,
} from '../db/schema.ts';
import type { Statement } from '../gate/feed/write.ts';
import { moveMails } from './due-mail.ts';
import { type PurchaseDecision, type SlotDecision, wantedOf } from './rules/decide.ts';

// A fact has shown that several purchases are one.

/** No slot of a purchase has such a number. */
const APART = 1_000_000;

/** Keeps the slots of merged purchases apart from a purchase's own, so that a decision tells which license goes on in which. */
export const keepApart = (held: PurchaseLicenseRow[], id: string): PurchaseLicenseRow[] => {
  const slots = new Map<string, number>();
  return held.map((row) => {
    if (row.purchaseId === id) return row;
    const name = `${row.purchaseId} ${row.slot}`;
    const slot = slots.get(name) ?? APART + slots.size;
    slots.set(name, slot);
    return { ...row, slot };
  });
};

const placeOf = ({ slot, number }: { slot: number; number: number }) => `${slot} ${number}`;

/**
 * Finds the slot of a license whose own was given to another license: for the same thing, and one that lacks a license if there is
 * one. Until everything is decided, another id may be another thing, also of the same product: null if nothing tells that the
 * license is one too many.
 */
const findSlot = (
  { offer }: PurchaseLicenseRow,
  { slots, reason }: PurchaseDecision,
  isFree: (slot: SlotDecision) => boolean,
): SlotDecision | null => {
  const isAll = reason === null;
  const alike = [
    ...slots.filter((slot) => slot.offer.ref === offer.ref && (isAll || offer.ref !== undefined)),
    ...slots.filter((slot) => slot.offer.product === offer.product && isAll),
  ];
  return alike.find(isFree) ?? alike[0] ?? (isAll ? (slots[0] ?? null) : null);
};

/** Gives slots that were kept apart the lowest numbers that are left. */
const openNumbers = (slots: number[]) => {
  const used = new Set(slots.filter((slot) => slot < APART));
  const numbers = new Map<number, number>();
  return (slot: number): number => {
    const known = slot < APART ? slot : numbers.get(slot);
    if (known !== undefined) return known;
    let number = 0;
    while (used.has(number)) number++;
    used.add(number);
    numbers.set(slot, number);
    return number;
  };
};

/**
 * Joins what was kept apart: each license goes on in its slot, and one that is one too many comes after those of another slot. That
 * is only known now, so it is noted. Of a slot, as many stay as are paid, or as one of the purchases had.
 */
export const join = (
  held: PurchaseLicenseRow[],
  decision: PurchaseDecision,
): { held: PurchaseLicenseRow[]; decision: PurchaseDecision } => {
  if (!held.some(({ slot }) => slot >= APART)) return { held, decision };
  const decided = new Set(decision.slots.map(({ slot }) => slot));
  const numberOf = openNumbers([...held.map(({ slot }) => slot), ...decided]);
  const slots = decision.slots.map((slot) => ({ ...slot, slot: numberOf(slot.slot) }));
  const joined = { ...decision, slots: slots.toSorted((a, b) => a.slot - b.slot) };
  const hasSlot = ({ slot }: PurchaseLicenseRow) => slot < APART || decided.has(slot);
  const settled = held.filter(hasSlot).map((row) => ({ ...row, slot: numberOf(row.slot) }));
  const taken = new Set(settled.map(placeOf));
  const isFree = ({ slot, count }: SlotDecision) =>
    Array.from({ length: count }, (_, number) => placeOf({ slot, number })).some(
      (place) => !taken.has(place),
    );
  const had = Map.groupBy(
    held.filter(({ wanted }) => !wanted.isSurplus),
    ({ slot }) => slot,
  );
  const others = held
    .filter((row) => !hasSlot(row))
    .map((row): PurchaseLicenseRow => {
      const found = findSlot(row, joined, isFree);
      const place = { slot: found?.slot ?? numberOf(row.slot), number: 0 };
      while (taken.has(placeOf(place))) place.number++;
      taken.add(placeOf(place));
      const kept = Math.max(found?.count ?? Infinity, had.get(row.slot)?.length ?? 0);
      return {
        ...row,
        ...place,
        ...(place.number >= kept && { wanted: { ...row.wanted, isSurplus: true } }),
      };
    });
  return { held: [...settled, ...others], decision: joined };
};

/** Moves everything that others have to a purchase. `held` are the licenses of all of them, in their places. */
export const merge = (
  ctx: Ctx,
  purchaseId: string,
  others: PurchaseRow[],
  held: PurchaseLicenseRow[],
  { slots }: PurchaseDecision,
): Statement[] => {
  if (others.length === 0) return [];
  const { db } = ctx;
  const from = inJson(others.map(({ id }) => id));
  const moved = held.filter((row) => row.purchaseId !== purchaseId);
  const isKept = (row: PurchaseLicenseRow) =>
    slots.every((one) => one.slot !== row.slot || !wantedOf(one, row).isSurplus);
  return [
    db
      .update(purchaseThings)
      .set({ purchaseId })
      .where(sql`${purchaseThings.purchaseId} ${from}`),
    db
      .update(purchaseFacts)
      .set({ purchaseId })
      .where(sql`${purchaseFacts.purchaseId} ${from}`),
    // What both have stays as it is. A batch of drizzle takes no statement of `run` that has parameters.
    db
      .insert(purchaseMessages)
      .select(
        sql`SELECT account_id, ${purchaseId}, message_id FROM purchase_messages WHERE purchase_id ${from}`,
      )
      .onConflictDoNothing(),
    db.delete(purchaseMessages).where(sql`${purchaseMessages.purchaseId} ${from}`),
    ...moveMails(ctx, purchaseId, from, moved.some(isKept)),
    ...moved.map(({ slot, number, wanted, licenseId, accountId }) =>
      db
        .update(purchaseLicenses)
        .set({ purchaseId, slot, number, wanted })
        .where(and(eq(purchaseLicenses.accountId, accountId), eq(purchaseLicenses.licenseId, licenseId))),
    ),
    db.delete(purchases).where(sql`${purchases.id} ${from}`),
  ];
};
