import { createLru } from '../shared/memory/lru.ts';
import { logError } from '../shared/text/log.ts';

/** A message of the queue: an account's stores have work that is due. What it is, D1 knows. */
export interface StoreHint {
  account_id: string;
  work: 'stores';
}

/** Lets the queue go on with what is due for the account's stores. Without it, the hourly work does. */
export const hintWork = async (env: Env, accountId: string): Promise<void> => {
  try {
    await env.WEBHOOKS.send({ account_id: accountId, work: 'stores' } satisfies StoreHint);
  } catch (error) {
    logError('store_hint_not_sent', error, { account_id: accountId });
  }
};

const APART_MS = 1_000;
/** When the last hint of an account's arrivals was sent, or will be, in this isolate. */
const hintsMs = createLru<number>(10_000);

/**
 * Hints at something that has just come. Of many that come at once, the first is hinted at now, and all others together a second
 * later: the queue has the webhooks of all accounts, too, and a step goes on by itself while anything is due.
 */
export const hintArrival = async (env: Env, accountId: string): Promise<void> => {
  const nowMs = Date.now();
  const lastMs = hintsMs.get(accountId) ?? 0;
  if (lastMs > nowMs) return;
  const atMs = Math.max(nowMs, lastMs + APART_MS);
  hintsMs.set(accountId, atMs);
  if (atMs > nowMs) await scheduler.wait(atMs - nowMs);
  await hintWork(env, accountId);
};
