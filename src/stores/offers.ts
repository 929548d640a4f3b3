import { and, asc, eq, getTableColumns, gt, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { audit } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { type OfferRow, offers } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { ifNamesProduct, unknownProduct } from '../products/named.ts';
import { letDecide } from '../purchases/awaited-offers.ts';
import { AppError, limitReached } from '../shared/app-error.ts';
import { MAX_OFFERS } from '../shared/rules/stores.ts';
import { mergeTerms } from '../shared/rules/terms.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { type putOfferInput, toOffer } from './schemas.ts';
import { findStore } from './stores.ts';

const isOffer = (storeId: string, ref: string) => and(eq(offers.storeId, storeId), eq(offers.ref, ref));

export const findOffer = async (ctx: Ctx, storeId: string, ref: string): Promise<OfferRow> => {
  await findStore(ctx, storeId);
  const [row] = await ctx.db.select().from(offers).where(isOffer(storeId, ref));
  if (!row) throw new AppError('not_found');
  return row;
};

export const listOffers = async (ctx: Ctx, storeId: string, { limit, cursor }: PageInput) => {
  await findStore(ctx, storeId);
  const after = cursor === undefined ? undefined : gt(offers.ref, cursor);
  const rows = await ctx.db
    .select({ ...getTableColumns(offers), id: offers.ref })
    .from(offers)
    .where(and(eq(offers.storeId, storeId), after))
    .orderBy(asc(offers.ref))
    .limit(limit + 1);
  return toPage(rows, limit, toOffer);
};

/** The account's id if the store exists and has the offer, or room for it. Null otherwise, which the column refuses. */
const accountWithRoom = ({ accountId }: Ctx, storeId: string, ref: string) =>
  sql<string>`iif(EXISTS (SELECT 1 FROM stores WHERE id = ${storeId} AND account_id = ${accountId}) AND (
    EXISTS (SELECT 1 FROM offers WHERE store_id = ${storeId} AND ref = ${ref})
    OR (SELECT count(*) FROM offers WHERE store_id = ${storeId}) < ${MAX_OFFERS}), ${accountId}, NULL)`;

const toOfferColumns = (input: z.output<typeof putOfferInput>) => ({
  product: input.product,
  grant: input.grant,
  days: input.days ?? null,
  quantity: input.quantity,
  terms: mergeTerms({}, input.terms ?? {}),
  graceDays: input.grace_days,
  onRefund: input.on_refund,
  onDispute: input.on_dispute,
  mail: input.mail,
});

/** Says what a ref means, or says it anew. */
export const putOffer = async (
  ctx: Ctx,
  storeId: string,
  ref: string,
  input: z.output<typeof putOfferInput>,
) => {
  await findStore(ctx, storeId);
  const nowMs = Date.now();
  const fields = toOfferColumns(input);
  // Later than the offer's creation, which so tells a new offer from a replaced one.
  const updatedAt = sql<number>`max(${nowMs}, ${offers.updatedAt} + 1)`;
  const upsert = ctx.db
    .insert(offers)
    .values({
      accountId: accountWithRoom(ctx, storeId, ref),
      storeId,
      ref,
      ...fields,
      createdAt: nowMs,
      updatedAt: ifNamesProduct(ctx, input.product, nowMs),
    })
    .onConflictDoUpdate({ target: [offers.storeId, offers.ref], set: { ...fields, updatedAt } })
    .returning();
  try {
    const [[row]] = await commit(
      ctx,
      [
        upsert,
        audit(ctx, 'offer.put', storeId, { ref, product: input.product }),
        ...letDecide(ctx, storeId, ref, nowMs),
      ],
      [{ kind: 'account', ref: ctx.accountId }],
    );
    if (!row) throw new AppError('unavailable');
    return { offer: row, isNew: row.createdAt === row.updatedAt };
  } catch (error) {
    if (violatesNotNull(error, 'offers.updated_at')) throw await unknownProduct(ctx, input.product);
    if (violatesNotNull(error, 'offers.account_id'))
      throw limitReached('offers', `A store has at most ${MAX_OFFERS} offers. Delete one first.`);
    throw error;
  }
};

export const deleteOffer = async (ctx: Ctx, storeId: string, ref: string): Promise<void> => {
  await findOffer(ctx, storeId, ref);
  await commit(
    ctx,
    [ctx.db.delete(offers).where(isOffer(storeId, ref)), audit(ctx, 'offer.delete', storeId, { ref })],
    [{ kind: 'account', ref: ctx.accountId }],
    { isBeyondLimits: true },
  );
};
