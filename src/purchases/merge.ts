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
import type { PurchaseDecision } from './rules/decide.ts';

// A fact has shown that several purchases are one.

/** Licenses of a purchase that was merged come after those that the other has, where both have some. */
export const renumber = (held: PurchaseLicenseRow[], id: string): PurchaseLicenseRow[] => {
  const taken = new Set(
    held.filter((row) => row.purchaseId === id).map(({ slot, number }) => `${slot} ${number}`),
  );
  return held.map((row) => {
    if (row.purchaseId === id) return row;
    let { number } = row;
    while (taken.has(`${row.slot} ${number}`)) number++;
    taken.add(`${row.slot} ${number}`);
    return { ...row, number };
  });
};

/** Moves everything that others have to a purchase. */
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
  const moved = renumber(held, purchaseId).filter((_, i) => held[i]?.purchaseId !== purchaseId);
  const isKept = ({ slot, number }: PurchaseLicenseRow) =>
    !slots.some((one) => one.slot === slot && number >= one.count);
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
    ...moved.map(({ slot, number, licenseId, accountId }) =>
      db
        .update(purchaseLicenses)
        .set({ purchaseId, slot, number })
        .where(and(eq(purchaseLicenses.accountId, accountId), eq(purchaseLicenses.licenseId, licenseId))),
    ),
    db.delete(purchases).where(sql`${purchases.id} ${from}`),
  ];
};
