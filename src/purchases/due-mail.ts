import { and, eq, inArray, min, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { purchaseMails, type PurchaseRow } from '../db/schema.ts';
import type { Statement } from '../gate/feed/write.ts';
import type { NewLicense } from './new-license.ts';
import type { PurchaseDecision } from './rules/decide.ts';

// When the email with the keys of a purchase is due, as statements of the purchase's commit.

interface Decided {
  row: PurchaseRow;
  decision: PurchaseDecision;
  hasMail: boolean;
  nowMs: number;
}

/** Lets one of the emails that wait be sent. The others, by which a seller has asked for it again, would only repeat it. */
const releaseOne = ({ db }: Ctx, { row, nowMs }: Decided): Statement[] => {
  const isWaiting = inArray(purchaseMails.problem, ['no_address', 'nothing_to_send']);
  const waiting = and(eq(purchaseMails.purchaseId, row.id), isWaiting);
  const first = db
    .select({ number: min(purchaseMails.number) })
    .from(purchaseMails)
    .where(waiting);
  return [
    db
      .update(purchaseMails)
      .set({ problem: 'same_as_earlier' })
      .where(and(waiting, sql`${purchaseMails.number} > ${first}`)),
    db.update(purchaseMails).set({ dueAt: nowMs, problem: null }).where(waiting),
  ];
};

/** The mail with the keys, once a purchase. It waits for an address, or that a license is good again, which the store tells later. */
export const writeMail = (ctx: Ctx, decided: Decided, made: NewLicense[]): Statement[] => {
  const { db, accountId } = ctx;
  const { row, decision, hasMail, nowMs } = decided;
  const isGood = decision.slots.some(({ wanted }) => wanted.status === 'active');
  if (hasMail) return decision.email === null || !isGood ? [] : releaseOne(ctx, decided);
  if (row.isErased || !made.some(({ slot }) => slot.offer.mail)) return [];
  const due = decision.email === null ? { dueAt: null, problem: 'no_address' } : { dueAt: nowMs };
  return [
    db
      .insert(purchaseMails)
      .values({ accountId, purchaseId: row.id, number: 0, createdAt: nowMs, ...due })
      .onConflictDoNothing(),
  ];
};
