import { and, asc, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditWithinStorage, refuseEntry } from '../audit/audit.ts';
import { audited } from '../audit/audited.ts';
import type { Ctx } from '../db/ctx.ts';
import { claimStatements } from '../db/idempotency.ts';
import { inJson } from '../db/json-rows.ts';
import {
  licenses,
  purchaseLicenses,
  purchaseMails,
  type PurchaseRow,
  purchases,
  purchaseThings,
  stores,
} from '../db/schema.ts';
import { pull } from '../gate/worker/commit.ts';
import { listNames, unknownProduct } from '../products/named.ts';
import { AppError, limitReached } from '../shared/app-error.ts';
import { isNobodys } from '../shared/rules/licenses.ts';
import { MAX_MAILS } from '../shared/rules/stores.ts';
import { toPage } from '../shared/schemas/lists.ts';
import { dropUnaddressed } from './due-mail.ts';
import { loadPurchases } from './load.ts';
import {
  type ListPurchasesInput,
  MAX_FOUND,
  type purchaseDetailsBody,
  toFactBody,
  toMailBody,
  toPurchase,
  toSoldLicense,
} from './schemas.ts';
import { settle } from './settle.ts';

const isPurchase = ({ accountId }: Ctx, id: string) =>
  and(eq(purchases.accountId, accountId), eq(purchases.id, id));

const findRow = async (ctx: Ctx, id: string): Promise<PurchaseRow> => {
  const [row] = await ctx.db.select().from(purchases).where(isPurchase(ctx, id));
  if (!row) throw new AppError('not_found');
  return row;
};

/** What sorts after everything that begins with a text. */
const AFTER = '\u{10FFFF}';

/** The purchases that a text finds, each way by an index of its own. */
const findIds = async ({ db, accountId }: Ctx, q: string): Promise<string[]> => {
  const address = q.toLowerCase();
  const found = await db.batch([
    db
      .select({ id: purchases.id })
      .from(purchases)
      .where(
        and(
          eq(purchases.accountId, accountId),
          sql`lower(customer_email) >= ${address} AND lower(customer_email) < ${address + AFTER}`,
        ),
      )
      .limit(MAX_FOUND),
    db
      .select({ id: purchases.id })
      .from(purchases)
      .where(and(eq(purchases.accountId, accountId), eq(purchases.orderNumber, q)))
      .limit(MAX_FOUND),
    db
      .select({ id: purchases.id })
      .from(purchases)
      .where(
        and(
          inArray(
            purchases.storeId,
            db.select({ id: stores.id }).from(stores).where(eq(stores.accountId, accountId)),
          ),
          eq(purchases.buyerRef, `customer/${q}`),
        ),
      )
      .limit(MAX_FOUND),
    db
      .select({ id: purchaseThings.purchaseId })
      .from(purchaseThings)
      .where(and(eq(purchaseThings.accountId, accountId), eq(purchaseThings.ref, q)))
      .limit(MAX_FOUND),
    db
      .select({ id: purchaseLicenses.purchaseId })
      .from(licenses)
      .innerJoin(
        purchaseLicenses,
        and(eq(purchaseLicenses.accountId, accountId), eq(purchaseLicenses.licenseId, licenses.id)),
      )
      .where(and(eq(licenses.accountId, accountId), eq(licenses.licenseKey, q)))
      .limit(MAX_FOUND),
  ]);
  return [...new Set(found.flat().map(({ id }) => id))];
};

export const listPurchases = async (ctx: Ctx, { limit, cursor, status, q }: ListPurchasesInput) => {
  const ids = q ? await findIds(ctx, q) : null;
  const rows = await ctx.db
    .select()
    .from(purchases)
    .where(
      and(
        eq(purchases.accountId, ctx.accountId),
        status === undefined ? undefined : eq(purchases.status, status),
        ids === null ? undefined : sql`${purchases.id} ${inJson(ids)}`,
        cursor === undefined ? undefined : lt(purchases.id, cursor),
      ),
    )
    .orderBy(desc(purchases.id))
    .limit(limit + 1);
  return toPage(rows, limit, toPurchase);
};

export const getPurchase = async (ctx: Ctx, id: string): Promise<z.infer<typeof purchaseDetailsBody>> => {
  const row = await findRow(ctx, id);
  const [{ facts }, sold, mails] = await Promise.all([
    loadPurchases(ctx, [id]),
    ctx.db
      .select({ license: licenses })
      .from(purchaseLicenses)
      .innerJoin(
        licenses,
        and(eq(licenses.accountId, purchaseLicenses.accountId), eq(licenses.id, purchaseLicenses.licenseId)),
      )
      .where(eq(purchaseLicenses.purchaseId, id))
      .orderBy(asc(purchaseLicenses.slot), asc(purchaseLicenses.number)),
    ctx.db
      .select()
      .from(purchaseMails)
      .where(eq(purchaseMails.purchaseId, id))
      .orderBy(asc(purchaseMails.number)),
  ]);
  return {
    ...toPurchase(row),
    facts: facts.toSorted((a, b) => a.takenAtMs - b.takenAtMs).map(toFactBody),
    licenses: sold.map(({ license }) => toSoldLicense(license)),
    mails: mails.map(toMailBody),
  };
};

/** Acts as a purchase's store, also when a person asked for it. Their own entry has claimed their Idempotency-Key. */
const asStore = (caller: Ctx, storeId: string): Ctx => {
  const { idempotency: _, ...ctx } = caller;
  return { ...ctx, key: null, actor: { kind: 'store', id: storeId }, ip: null };
};

/** Returns once every verify sees the licenses, also those that another call has committed of which the gate hasn't heard yet. */
const settleRow = async (ctx: Ctx, row: PurchaseRow, assign?: string): Promise<void> => {
  await settle(
    asStore(ctx, row.storeId),
    { id: row.storeId, provider: row.provider },
    { purchaseIds: [row.id], ...(assign !== undefined && { assign }) },
  );
  await pull(ctx);
};

/** Decides a purchase again, for example after a limit was raised. */
export const retryPurchase = (ctx: Ctx, id: string) =>
  audited(ctx, ['purchase.retry', id], {
    check: () => findRow(ctx, id),
    makeChange: async () => {
      await settleRow(ctx, await findRow(ctx, id));
      return getPurchase(ctx, id);
    },
  });

const needsNoProduct = ({ status }: PurchaseRow) =>
  new AppError('invalid_transition', { message: `A purchase that is ${status} needs no product.` });

/** Names the product of a purchase that no offer is for. */
export const assignProduct = (ctx: Ctx, id: string, product: string) =>
  audited(ctx, ['purchase.assign', id, { product }], {
    check: async () => {
      const row = await findRow(ctx, id);
      if (row.status !== 'unmapped') throw needsNoProduct(row);
      const names = await listNames(ctx);
      if (names.length > 0 && !names.some(({ code }) => code === product))
        throw await unknownProduct(ctx, product);
    },
    makeChange: async () => {
      await settleRow(ctx, await findRow(ctx, id), product);
      // Another call may have named another product since.
      const row = await findRow(ctx, id);
      if (row.assigned !== product) throw needsNoProduct(row);
      return getPurchase(ctx, id);
    },
  });

/** Whether anybody can get the keys: the email goes to the buyer, or to whoever has a license by now. */
const hasAddress = async (
  { db }: Ctx,
  { id, isErased, isTest, customerEmail }: PurchaseRow,
): Promise<boolean> => {
  const sold = await db
    .select({ email: licenses.customerEmail })
    .from(purchaseLicenses)
    .innerJoin(
      licenses,
      and(eq(licenses.accountId, purchaseLicenses.accountId), eq(licenses.id, purchaseLicenses.licenseId)),
    )
    .where(eq(purchaseLicenses.purchaseId, id));
  const isKnown = isTest || customerEmail !== null;
  return !isErased && sold.some(({ email }) => isKnown || !isNobodys(email));
};

/** Lets the email with the keys be sent again. */
export const resendMail = async (ctx: Ctx, id: string) => {
  const { mails } = await getPurchase(ctx, id);
  if (!(await hasAddress(ctx, await findRow(ctx, id))))
    throw new AppError('invalid_transition', {
      message: 'The purchase has no license, or no address to write to.',
    });
  if (mails.length >= MAX_MAILS) throw limitReached('mails', `A purchase has at most ${MAX_MAILS} emails.`);
  const nowMs = Date.now();
  const due = ctx.db
    .insert(purchaseMails)
    .values({
      accountId: ctx.accountId,
      purchaseId: id,
      number: mails.length + 1,
      dueAt: nowMs,
      createdAt: nowMs,
    })
    .onConflictDoNothing();
  const claims = ctx.idempotency ? claimStatements(ctx, ctx.idempotency, id) : [];
  await ctx.db
    .batch([auditWithinStorage(ctx, 'purchase.resend_mail', id), dropUnaddressed(ctx, id), due, ...claims])
    .catch(refuseEntry);
  return getPurchase(ctx, id);
};
