import { and, asc, eq, gt, inArray, isNotNull, lte, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { databaseOf } from '../db/client.ts';
import {
  type OfferRow,
  offers,
  purchaseMails,
  type PurchaseRow,
  purchases,
  type StoreMessageRow,
  storeMessages,
  type StoreRow,
  stores,
} from '../db/schema.ts';
import { letDecide } from '../purchases/awaited-offers.ts';
import { sendDueMails } from '../purchases/mails.ts';
import { settle } from '../purchases/settle.ts';
import { logError } from '../shared/text/log.ts';
import { checkStore } from './check.ts';
import { againAfter, readMessage } from './read-message.ts';
import { storeCtx } from './store-ctx.ts';
import { hintWork } from './work-hint.ts';

// What is due for an account's stores, a bounded part of it. Whatever is left gets another hint.

/** Purchases that one hint works on, so that their queries are fewer than a request may make. */
const MAX_ROWS = 5;
/** About as many queries as a step may make for purchases, of which one makes some hundred. */
const MAX_COST = 300;
const MINUTE_MS = 60_000;

interface Due {
  known: Map<string, StoreRow>;
  messages: StoreMessageRow[];
  toDecide: Pick<PurchaseRow, 'id' | 'storeId' | 'decideAt' | 'tries'>[];
  saved: Pick<OfferRow, 'storeId' | 'ref'>[];
}

/** Finds what is due in one of the stores, in one query whatever their number. */
const findDue = async (env: Env, accountId: string): Promise<Due> => {
  const db = databaseOf(env, accountId);
  const nowMs = Date.now();
  const isFirstWith = (storeId: SQLiteColumn, dueAt: SQLiteColumn) =>
    sql`${storeId} = (SELECT s.id FROM stores AS s WHERE s.account_id = ${accountId}
      AND EXISTS (SELECT 1 FROM ${storeId.table} WHERE ${storeId} = s.id AND ${dueAt} <= ${nowMs}) LIMIT 1)`;
  const [rows, messages, toDecide, saved] = await db.batch([
    db.select().from(stores).where(eq(stores.accountId, accountId)),
    db
      .select()
      .from(storeMessages)
      .where(and(isFirstWith(storeMessages.storeId, storeMessages.readAt), lte(storeMessages.readAt, nowMs)))
      .orderBy(asc(storeMessages.readAt))
      .limit(1),
    db
      .select({
        id: purchases.id,
        storeId: purchases.storeId,
        decideAt: purchases.decideAt,
        tries: purchases.tries,
      })
      .from(purchases)
      .where(and(isFirstWith(purchases.storeId, purchases.decideAt), lte(purchases.decideAt, nowMs)))
      .orderBy(asc(purchases.decideAt))
      .limit(MAX_ROWS),
    db
      .select({ storeId: offers.storeId, ref: offers.ref })
      .from(offers)
      .where(and(eq(offers.accountId, accountId), lte(offers.decideAt, nowMs)))
      .orderBy(asc(offers.decideAt))
      .limit(1),
  ]);
  return { known: new Map(rows.map((row) => [row.id, row])), messages, toDecide, saved };
};

type Work = (env: Env, accountId: string, due: Due) => Promise<boolean>;

// Before a row is worked on, its due time moves to later, so that nobody else begins with it. If the row then fails, it is tried again
// at that time, and the hint goes on: however many rows always fail, the others don't wait for them.

/** A reading that fails is a try, so that no email waits for the next. */
const postponeMessage = async (env: Env, { accountId, id, tries }: StoreMessageRow): Promise<void> => {
  await databaseOf(env, accountId)
    .update(storeMessages)
    .set({
      tries: sql`tries + 1`,
      readAt: sql`iif(read_at IS NULL, NULL, ${Date.now() + againAfter(tries)})`,
    })
    .where(eq(storeMessages.id, id));
};

const readDue: Work = async (env, accountId, { known, messages }) => {
  for (const row of messages) {
    const store = known.get(row.storeId);
    const claimed = await databaseOf(env, accountId)
      .update(storeMessages)
      .set({ readAt: Date.now() + MINUTE_MS })
      .where(and(eq(storeMessages.id, row.id), sql`read_at IS ${row.readAt}`))
      .returning({ id: storeMessages.id });
    if (!store || claimed.length === 0) continue;
    await readMessage(storeCtx(env, store), store, row).catch(async (error: unknown) => {
      logError('store_message_not_read', error, { account_id: accountId, store_id: row.storeId });
      await postponeMessage(env, row);
    });
  }
  return messages.length > 0;
};

const postponePurchase = async (
  env: Env,
  accountId: string,
  { id, tries }: Due['toDecide'][number],
): Promise<void> => {
  await databaseOf(env, accountId)
    .update(purchases)
    .set({ tries: tries + 1, decideAt: Date.now() + againAfter(tries) })
    .where(and(eq(purchases.id, id), isNotNull(purchases.decideAt)));
};

const decideDue: Work = async (env, accountId, { known, toDecide }) => {
  let cost = 0;
  for (const row of toDecide) {
    const { id, storeId, decideAt } = row;
    const store = known.get(storeId);
    if (!store || cost > MAX_COST) continue;
    const claimed = await databaseOf(env, accountId)
      .update(purchases)
      .set({ decideAt: Date.now() + MINUTE_MS })
      .where(and(eq(purchases.id, id), sql`decide_at IS ${decideAt}`))
      .returning({ id: purchases.id });
    if (claimed.length === 0) continue;
    try {
      cost += await settle(storeCtx(env, store), store, { purchaseIds: [id] });
    } catch (error) {
      logError('purchase_not_decided', error, { account_id: accountId, purchase_id: id });
      await postponePurchase(env, accountId, row);
      // How many queries it has made isn't known, so the others get another hint.
      break;
    }
  }
  return toDecide.length > 0;
};

/** Purchases that have waited for an offer come once those are decided that came before them. */
const letMoreDecide: Work = async (env, accountId, { saved }) => {
  const db = databaseOf(env, accountId);
  for (const { storeId, ref } of saved) await db.batch(letDecide({ db }, storeId, ref, Date.now()));
  return saved.length > 0;
};

const checkDue: Work = async (env, _accountId, { known }) => {
  const nowMs = Date.now();
  const due = [...known.values()].find(({ checkAt }) => checkAt !== null && checkAt <= nowMs);
  if (!due) return false;
  await checkStore(env, due);
  return true;
};

/** Mails come first: a buyer doesn't wait for what other notifications say. */
const WORK: Work[] = [sendDueMails, readDue, decideDue, letMoreDecide, checkDue];

/** Does the first kind of work of which something is due. */
export const workOnStores = async (env: Env, accountId: string): Promise<void> => {
  const due = await findDue(env, accountId);
  for (const work of WORK) {
    if (!(await work(env, accountId, due))) continue;
    await hintWork(env, accountId);
    return;
  }
};

/** Lets the emails be sent now that wait until the seller proves an address, or is on a plan that allows more. */
export const releaseMails = async (env: Env, accountId: string): Promise<void> => {
  const dueAt = Date.now();
  const isWaiting = inArray(purchaseMails.problem, ['account_not_verified', 'limit_of_the_day']);
  try {
    const { meta } = await databaseOf(env, accountId)
      .update(purchaseMails)
      .set({ dueAt, problem: null })
      .where(and(eq(purchaseMails.accountId, accountId), gt(purchaseMails.dueAt, dueAt), isWaiting));
    if (meta.changes > 0) await hintWork(env, accountId);
  } catch (error) {
    logError('purchase_mails_not_released', error, { account_id: accountId });
  }
};
