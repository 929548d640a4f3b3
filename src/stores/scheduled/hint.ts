import { and, asc, isNotNull, lte } from 'drizzle-orm';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { offers, purchaseMails, purchases, storeMessages, stores } from '../../db/schema.ts';
import type { StoreHint } from '../work-hint.ts';

/** Rows of each kind that a run hints at. The next run continues with what is due the longest. */
const MAX_ROWS = 500;
/** Queues take so many messages at once. */
const MAX_BATCH = 100;

/** The accounts with messages, purchases, offers, emails, or checks that are due. */
const findDue = async ({ db }: DatabaseCtx, nowMs: number): Promise<string[]> => {
  const found = await db.batch([
    db
      .select({ id: storeMessages.accountId })
      .from(storeMessages)
      .where(and(isNotNull(storeMessages.readAt), lte(storeMessages.readAt, nowMs)))
      .orderBy(asc(storeMessages.readAt))
      .limit(MAX_ROWS),
    db
      .select({ id: purchases.accountId })
      .from(purchases)
      .where(and(isNotNull(purchases.decideAt), lte(purchases.decideAt, nowMs)))
      .orderBy(asc(purchases.decideAt))
      .limit(MAX_ROWS),
    db
      .select({ id: offers.accountId })
      .from(offers)
      .where(and(isNotNull(offers.decideAt), lte(offers.decideAt, nowMs)))
      .orderBy(asc(offers.decideAt))
      .limit(MAX_ROWS),
    db
      .select({ id: purchaseMails.accountId })
      .from(purchaseMails)
      .where(and(isNotNull(purchaseMails.dueAt), lte(purchaseMails.dueAt, nowMs)))
      .orderBy(asc(purchaseMails.dueAt))
      .limit(MAX_ROWS),
    db
      .select({ id: stores.accountId })
      .from(stores)
      .where(and(isNotNull(stores.checkAt), lte(stores.checkAt, nowMs)))
      .orderBy(asc(stores.checkAt))
      .limit(MAX_ROWS),
  ]);
  return [...new Set(found.flat().map(({ id }) => id))];
};

/** Lets the queue work on what is due for stores. */
export const hintStores = async (ctx: DatabaseCtx): Promise<void> => {
  const due = await findDue(ctx, Date.now());
  for (let i = 0; i < due.length; i += MAX_BATCH) {
    const messages = due.slice(i, i + MAX_BATCH).map((id) => ({
      body: { account_id: id, work: 'stores' } satisfies StoreHint,
    }));
    await ctx.env.WEBHOOKS.sendBatch(messages);
  }
};
