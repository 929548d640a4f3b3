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
