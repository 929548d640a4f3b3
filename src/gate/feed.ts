import type { BatchItem, BatchResponse } from 'drizzle-orm/batch';
import type { AccountCtx } from '../db/ctx.ts';
import { feed, FEED_KINDS } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import type { WebhookEvent } from '../shared/events.ts';
import { logError } from '../shared/log.ts';
import { gateOf } from '../shared/objects.ts';

type Statement = BatchItem<'sqlite'>;

/** A row that the account's gate must read again, or an event that it must forward. */
export interface Change {
  kind: (typeof FEED_KINDS)[number];
  ref: string;
  payload?: WebhookEvent;
}

/** A feed row for an event, to be committed together with its cause. */
export const eventChange = (event: WebhookEvent): Change => ({
  kind: 'event',
  ref: event.id,
  payload: event,
});

const PULL_ATTEMPTS = 3;

const pull = async ({ env, accountId }: AccountCtx): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await gateOf(env, accountId).pull();
    } catch (error) {
      if (attempt < PULL_ATTEMPTS) continue;
      // The change is committed and the gate's alarm will find it, but verifies may not see it yet.
      logError('gate_pull_failed', error, { account_id: accountId });
      throw new AppError('unavailable', { cause: error });
    }
  }
};

/**
 * The only way to change data that a gate has a copy of: commits the statements together with feed rows that
 * describe the changes, and returns once every verify sees them.
 */
export const commit = async <T extends [Statement, ...Statement[]]>(
  ctx: AccountCtx,
  statements: T,
  changes: Change[],
): Promise<BatchResponse<T>> => {
  const createdAt = Date.now();
  const feedInsert = ctx.db
    .insert(feed)
    .values(changes.map((change) => ({ accountId: ctx.accountId, createdAt, ...change })));
  await gateOf(ctx.env, ctx.accountId).announce();
  const results = await ctx.db.batch([...statements, feedInsert]);
  await pull(ctx);
  // Callers expect the results of their own statements only.
  return results.slice(0, -1) as BatchResponse<T>;
};
