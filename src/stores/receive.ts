import type { StoreRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/text/log.ts';
import { isLeft, keep } from './keep.ts';
import type { StoreDelivery } from './provider/provider.ts';
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
  const row = await keep(env, store, { body: text, topic }, reading).catch((error: unknown) => {
    throw error instanceof AppError ? error : new AppError('unavailable', { cause: error });
  });
  if (!isLeft(row, reading)) return;
  try {
    const isDone = await readMessage(storeCtx(env, store), store, row, reading);
    // The email with the key is due now, too.
    if (!isDone || reading.kind === 'facts') waitUntil(hintArrival(env, store.accountId));
  } catch (error) {
    // Nobody else has its body, so the store has to send it again.
    if (row.body === null) throw new AppError('unavailable', { cause: error });
    // It is kept, and the scheduled work goes on with it.
    logError('store_message_not_read', error, { account_id: store.accountId, store_id: store.id });
    waitUntil(hintArrival(env, store.accountId));
  }
};
