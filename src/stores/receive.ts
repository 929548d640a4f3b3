import { eq, sql } from 'drizzle-orm';
import type { StoreMessageRow, StoreRow } from '../db/schema.ts';
import { storeMessages, stores } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { seal } from '../shared/crypto/sealing.ts';
import { newId } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';
import type { StoreDelivery, StoreReading } from './provider/provider.ts';
import { PROVIDERS } from './provider/providers.ts';
import { readMessage } from './read-message.ts';
import { unsealFor } from './secrets.ts';
import { storeCtx } from './store-ctx.ts';
import { hintArrival } from './work-hint.ts';

// A delivery to a store's URL: is it signed, keep it, and take what it says.

const secretsOf = async (env: Env, store: StoreRow, nowMs: number): Promise<string[]> => {
  const earlier = store.earlierSecrets.filter(({ untilMs }) => untilMs > nowMs).map(({ sealed }) => sealed);
  const sealed = [...(store.secret === null ? [] : [store.secret]), ...earlier];
  return Promise.all(sealed.map((one) => unsealFor(env, store, 'secret', one)));
};

/** Nothing is kept of a body that no license depends on. */
const isKept = (reading: StoreReading) => reading.kind !== 'nothing';

/** Keeps a message. A copy of one that couldn't be read is read again. */
const keep = async (
  env: Env,
  store: StoreRow,
  text: string,
  topic: string | null,
  reading: StoreReading,
): Promise<StoreMessageRow> => {
  const { db } = storeCtx(env, store);
  const nowMs = Date.now();
  const id = newId('msg');
  const values = {
    id,
    accountId: store.accountId,
    storeId: store.id,
    hash: sha256(`${topic ?? ''}\n${text}`),
    type: reading.kind === 'unreadable' ? null : reading.type,
    topic,
    receivedAt: nowMs,
    body: isKept(reading) ? await seal(settingsOf(env).sealing, text, [store.accountId, id, 'body']) : null,
    readAt: reading.kind === 'facts' ? nowMs : null,
    problem: reading.kind === 'unreadable' ? reading.problem : null,
  };
  const wasUnread = sql`store_messages.problem IS NOT NULL AND store_messages.read_at IS NULL AND store_messages.asks IS NULL`;
  const [rows] = await db.batch([
    db
      .insert(storeMessages)
      .values(values)
      .onConflictDoUpdate({
        target: [storeMessages.storeId, storeMessages.hash],
        set: {
          times: sql`store_messages.times + 1`,
          type: values.type,
          readAt: sql`iif(${wasUnread}, ${values.readAt}, store_messages.read_at)`,
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

/** Handles a delivery. Returns once it is kept, and what it says has been taken, unless that is left to later work. */
export const receive = async (
  env: Env,
  store: StoreRow,
  delivery: StoreDelivery,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<void> => {
  const provider = PROVIDERS[store.provider];
  const secrets = await secretsOf(env, store, delivery.nowMs);
  if (!provider.isSigned(delivery, secrets)) throw new AppError('invalid_signature');
  const text = new TextDecoder().decode(delivery.body);
  const topic = provider.topicHeader ? delivery.headers.get(provider.topicHeader) : null;
  const reading = provider.read({ body: text, topic });
  const row = await keep(env, store, text, topic, reading).catch((error: unknown) => {
    throw new AppError('unavailable', { cause: error });
  });
  if (row.readAt === null) return;
  try {
    const isDone = await readMessage(storeCtx(env, store), store, row, reading);
    // The email with the key is due now, too.
    if (!isDone || reading.kind === 'facts') waitUntil(hintArrival(env, store.accountId));
  } catch (error) {
    // It is kept, and the scheduled work goes on with it.
    logError('store_message_not_read', error, { account_id: store.accountId, store_id: store.id });
    waitUntil(hintArrival(env, store.accountId));
  }
};
