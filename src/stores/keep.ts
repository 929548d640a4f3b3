import { Buffer } from 'node:buffer';
import { eq, type SQL, sql } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { planLimit } from '../db/plan-limit.ts';
import { accounts, type StoreMessageRow, storeMessages, type StoreRow, stores } from '../db/schema.ts';
import { accountWithinStorage } from '../db/storage.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { seal } from '../shared/crypto/sealing.ts';
import { MAX_BYTES_WHEN_FULL } from '../shared/rules/stores.ts';
import { newId } from '../shared/text/ids.ts';
import { fullStoreLimits } from '../users/limits.ts';
import { consumeAttempts, retryTimeOf } from '../users/throttle.ts';
import type { Message, StoreReading } from './provider/provider.ts';
import { storeCtx } from './store-ctx.ts';

// Keeps what a store has sent. The seller has the store's secret, so what is signed may be anything, and as much as it may be.
// An account that stores as much as it may keeps no bodies, and only so many rows a day, so that purchases are still taken.

/** Whoever signs a body chooses its words, too. */
const MAX_WORD = 500;

const toWord = (text: string | null): string | null => text?.slice(0, MAX_WORD).toWellFormed() ?? null;

/** Throws if the account, which stores as much as it may, takes no such notification now. The store sends it again. */
const admitWhenFull = async ({ env, db, accountId }: Ctx, body: string, nowMs: number): Promise<void> => {
  const [account] = await db
    .select({ changesPerDay: planLimit(env, 'changesPerDay', nowMs) })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  if (!account || Buffer.byteLength(body) > MAX_BYTES_WHEN_FULL) throw new AppError('unavailable');
  const limit = fullStoreLimits(accountId, account.changesPerDay);
  try {
    await consumeAttempts({ firstDb: firstDatabase(env) }, [limit]);
  } catch (error) {
    const retryMs = retryTimeOf(error);
    if (retryMs === null) throw error;
    // Never 429, after which some providers don't try again.
    throw new AppError('unavailable', { retryAfterSeconds: Math.ceil((retryMs - nowMs) / 1_000) });
  }
};

/** Keeps a message. A copy of one that couldn't be read is read again. */
export const keep = async (
  env: Env,
  store: StoreRow,
  { body, topic }: Message,
  reading: StoreReading,
): Promise<StoreMessageRow> => {
  const ctx = storeCtx(env, store);
  const { db, accountId } = ctx;
  const nowMs = Date.now();
  const id = newId('msg');
  const hash = sha256(`${topic ?? ''}\n${body}`);
  const dueAt = reading.kind === 'facts' ? nowMs : null;
  const wasUnread = sql`store_messages.problem IS NOT NULL AND store_messages.read_at IS NULL AND store_messages.asks IS NULL`;

  const insert = async (owner: string | SQL<string>, sealed: string | null) => {
    const values = {
      id,
      accountId: owner,
      storeId: store.id,
      hash,
      type: reading.kind === 'unreadable' ? null : toWord(reading.type),
      topic: toWord(topic),
      receivedAt: nowMs,
      body: sealed,
      // Without its body, it can be read only now.
      readAt: sealed === null ? null : dueAt,
      problem: reading.kind === 'unreadable' ? toWord(reading.problem) : null,
    };
    const [rows] = await db.batch([
      db
        .insert(storeMessages)
        .values(values)
        .onConflictDoUpdate({
          target: [storeMessages.storeId, storeMessages.hash],
          set: {
            times: sql`store_messages.times + 1`,
            type: values.type,
            readAt: sql`iif(${wasUnread} AND store_messages.body IS NOT NULL, ${dueAt}, store_messages.read_at)`,
            problem: sql`iif(${wasUnread}, ${values.problem}, store_messages.problem)`,
          },
        })
        .returning(),
      db.update(stores).set({ lastEventAt: nowMs }).where(eq(stores.id, store.id)),
    ]);
    const [row] = rows;
    if (!row) throw new Error('A message was not kept.');
    return row;
  };

  // Nothing is kept of a body that no license depends on.
  const sealed =
    reading.kind === 'nothing' ? null : await seal(settingsOf(env).sealing, body, [accountId, id, 'body']);
  const isCopy = sql`EXISTS (SELECT 1 FROM store_messages WHERE store_id = ${store.id} AND hash = ${hash})`;
  try {
    return await insert(accountWithinStorage(ctx, nowMs, isCopy), sealed);
  } catch (error) {
    if (!violatesNotNull(error, 'store_messages.account_id')) throw error;
  }
  await admitWhenFull(ctx, body, nowMs);
  return insert(accountId, null);
};

/** Whether the facts of a message are still to be taken. One without a body can be read only while its delivery is handled. */
export const isLeft = ({ readAt, body, asks }: StoreMessageRow, { kind }: StoreReading): boolean =>
  readAt !== null || (kind === 'facts' && body === null && asks === null);
