import { and, eq, inArray, isNotNull, max, min, or, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { purchaseMails, type PurchaseRow } from '../db/schema.ts';
import type { Statement } from '../gate/feed/write.ts';
import type { NewLicense } from './new-license.ts';
import type { PurchaseDecision } from './rules/decide.ts';

// When the email with the keys of a purchase is due, as statements of the purchase's commit.

interface Decided {
  row: PurchaseRow;
  others: PurchaseRow[];
  decision: PurchaseDecision;
  isMailed: boolean;
  nowMs: number;
}

const isWaiting = inArray(purchaseMails.problem, ['no_address', 'nothing_to_send']);
const isOf = (id: string) => eq(purchaseMails.purchaseId, id);
const nextNumber = (id: string) =>
  sql`(SELECT coalesce(max(number) + 1, 0) FROM purchase_mails WHERE purchase_id = ${id})`;

/** Lets one of the emails that wait be sent. The others, by which a seller has asked for it again, would only repeat it. */
const releaseOne = ({ db }: Ctx, { row, nowMs }: Decided): Statement[] => {
  const waiting = and(isOf(row.id), isWaiting);
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

/** Drops the emails that wait for an address, because another one has all keys. */
export const dropUnaddressed = ({ db }: Pick<Ctx, 'db'>, id: string) =>
  db
    .update(purchaseMails)
    .set({ problem: 'same_as_earlier' })
    .where(and(isOf(id), eq(purchaseMails.problem, 'no_address')));

/** Moves the emails of merged purchases to this one, after its own. Unsent ones are dropped unless one of their licenses is kept. */
export const moveMails = ({ db }: Ctx, id: string, from: SQL, isAnyKept: boolean): Statement[] => [
  db.insert(purchaseMails).select(
    sql`SELECT account_id, ${id}, ${nextNumber(id)} + row_number() OVER (ORDER BY created_at, purchase_id, number) - 1,
      due_at, sent_at, tries, problem, created_at FROM purchase_mails
      WHERE purchase_id ${from} AND (sent_at IS NOT NULL OR ${Number(isAnyKept)})`,
  ),
  db.delete(purchaseMails).where(sql`${purchaseMails.purchaseId} ${from}`),
];

/**
 * Of the emails that are still to be sent, keeps the last, which will have all keys. An earlier one may already be on its way with
 * the keys that there were before.
 */
const keepLast = ({ db }: Ctx, id: string): Statement => {
  const isLeft = and(isOf(id), or(isNotNull(purchaseMails.dueAt), isWaiting));
  const last = db
    .select({ number: max(purchaseMails.number) })
    .from(purchaseMails)
    .where(isLeft);
  return db
    .update(purchaseMails)
    .set({ dueAt: null, problem: 'same_as_earlier' })
    .where(and(isLeft, sql`${purchaseMails.number} < ${last}`));
};

/**
 * The email with the keys is sent once per purchase, and again with all of them whenever more keys are made. It waits for the
 * buyer's address, or until a license is valid again, both of which the store reports later.
 */
export const writeMail = (ctx: Ctx, decided: Decided, made: NewLicense[]): Statement[] => {
  const { db, accountId } = ctx;
  const { row, others, decision, isMailed, nowMs } = decided;
  const isMerged = others.length > 0;
  const isDue = !row.isErased && made.some(({ slot }) => slot.offer.mail);
  const isGood = decision.slots.some(({ wanted }) => wanted.status === 'active');
  const due = decision.email === null ? { dueAt: null, problem: 'no_address' } : { dueAt: nowMs };
  const written = { accountId, purchaseId: row.id, number: nextNumber(row.id), createdAt: nowMs, ...due };
  return [
    ...(isDue ? [db.insert(purchaseMails).values(written)] : []),
    ...(isMerged || (isDue && isMailed) ? [keepLast(ctx, row.id)] : []),
    ...(isMailed && decision.email !== null && isGood ? releaseOne(ctx, decided) : []),
  ];
};
