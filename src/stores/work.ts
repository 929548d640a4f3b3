import { and, asc, eq, lte } from 'drizzle-orm';
import { databaseOf } from '../db/client.ts';
import { purchases, storeMessages, type StoreRow, stores } from '../db/schema.ts';
import { sendDueMails } from '../purchases/mails.ts';
import { settle } from '../purchases/settle.ts';
import { checkStore } from './check.ts';
import { readMessage } from './read-message.ts';
import { storeCtx } from './store-ctx.ts';
import { hintWork } from './work-hint.ts';

// What is due for an account's stores, a bounded part of it. Whatever is left gets another hint.

/** Rows of each kind that one hint works on, so that their queries are fewer than a request may make. */
const MAX_ROWS = 5;
/** About as many queries as a step may make for purchases, of which one makes some hundred. */
const MAX_COST = 300;
const MINUTE_MS = 60_000;

type Work = (env: Env, accountId: string) => Promise<boolean>;

const storesOf = async (env: Env, accountId: string): Promise<Map<string, StoreRow>> => {
  const rows = await databaseOf(env, accountId).select().from(stores).where(eq(stores.accountId, accountId));
  return new Map(rows.map((row) => [row.id, row]));
};

const readDue: Work = async (env, accountId) => {
  const db = databaseOf(env, accountId);
  const known = await storesOf(env, accountId);
  let isMore = false;
  for (const store of known.values()) {
    const rows = await db
      .select()
      .from(storeMessages)
      .where(and(eq(storeMessages.storeId, store.id), lte(storeMessages.readAt, Date.now())))
      .orderBy(asc(storeMessages.readAt))
      .limit(isMore ? 0 : 1);
    for (const row of rows) {
      isMore = true;
      // Before, so that a message that always fails doesn't keep the others waiting.
      await db
        .update(storeMessages)
        .set({ readAt: Date.now() + MINUTE_MS })
        .where(eq(storeMessages.id, row.id));
      await readMessage(storeCtx(env, store), store, row);
    }
  }
  return isMore;
};

const decideDue: Work = async (env, accountId) => {
  const db = databaseOf(env, accountId);
  const known = await storesOf(env, accountId);
  let cost = 0;
  let isMore = false;
  for (const store of known.values()) {
    const rows = await db
      .select({ id: purchases.id })
      .from(purchases)
      .where(and(eq(purchases.storeId, store.id), lte(purchases.decideAt, Date.now())))
      .orderBy(asc(purchases.decideAt))
      .limit(isMore ? 0 : MAX_ROWS);
    for (const { id } of rows) {
      isMore = true;
      if (cost > MAX_COST) break;
      // As above: a purchase that always fails doesn't keep the others waiting.
      await db
        .update(purchases)
        .set({ decideAt: Date.now() + MINUTE_MS })
        .where(eq(purchases.id, id));
      cost += (await settle(storeCtx(env, store), store, { purchaseIds: [id] })).cost;
    }
  }
  return isMore;
};

const checkDue: Work = async (env, accountId) => {
  const nowMs = Date.now();
  const known = await storesOf(env, accountId);
  const due = [...known.values()].find(({ checkAt }) => checkAt !== null && checkAt <= nowMs);
  if (!due) return false;
  await checkStore(env, due);
  return true;
};

const WORK: Work[] = [readDue, decideDue, sendDueMails, checkDue];

/** Does the first kind of work of which something is due. */
export const workOnStores = async (env: Env, accountId: string): Promise<void> => {
  for (const work of WORK) {
    if (!(await work(env, accountId))) continue;
    await hintWork(env, accountId);
    return;
  }
};
