import type { BatchItem, BatchResponse } from 'drizzle-orm/batch';
import type { Database } from '../db/client.ts';
import { feed, FEED_KINDS } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import type { WebhookEvent } from '../shared/events.ts';
import { logError } from '../shared/log.ts';

type Statement = BatchItem<'sqlite'>;

/** A row that the account's gate has to look at again, or an event that it is to hand on. */
export interface Change {
  kind: (typeof FEED_KINDS)[number];
  ref: string;
  payload?: WebhookEvent;
}

/** An event, to be committed together with its cause. */
export const announces = (event: WebhookEvent): Change => ({ kind: 'event', ref: event.id, payload: event });

interface Place {
  env: Env;
  db: Database;
  accountId: string;
}

const PULL_ATTEMPTS = 3;

export const gateOf = (env: Env, accountId: string) => env.GATE.getByName(accountId);

const pull = async ({ env, accountId }: Place): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await gateOf(env, accountId).pull();
    } catch (error) {
      if (attempt < PULL_ATTEMPTS) continue;
      // The change stands and the gate's alarm will find it, but verifies may not see it yet.
      logError('gate_pull_failed', error, { account_id: accountId });
      throw new AppError('unavailable', { cause: error });
    }
  }
};

/**
 * The one way to change what a gate knows: commits the statements together with word of what they change,
 * and returns when every verify sees it.
 */
export const commit = async <T extends [Statement, ...Statement[]]>(
  place: Place,
  statements: T,
  changes: Change[],
): Promise<BatchResponse<T>> => {
  const createdAt = Date.now();
  const word = place.db
    .insert(feed)
    .values(changes.map((change) => ({ accountId: place.accountId, createdAt, ...change })));
  await gateOf(place.env, place.accountId).announce();
  const results = await place.db.batch([...statements, word]);
  await pull(place);
  // The last result is the feed's, which the caller did not ask for.
  return results.slice(0, -1) as BatchResponse<T>;
};
