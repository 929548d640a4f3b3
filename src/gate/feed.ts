import type { BatchItem, BatchResponse } from 'drizzle-orm/batch';
import type { Ctx } from '../db/ctx.ts';
import { feed, FEED_KINDS } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import type { WebhookEvent } from '../shared/events.ts';
import { logError } from '../shared/log.ts';
import { gateOf } from '../shared/objects.ts';
import type { CountedCall } from './ledger.ts';
import type { Receipt } from './replies.ts';

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

/** Returns once every verify sees the state that D1 has now. */
export const pull = async ({ env, accountId }: Ctx): Promise<void> => {
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

/** Arms the gate's alarm, and counts the call if an API key makes it. Throws if the usage limit is reached. */
const announce = async ({ env, accountId, key }: Ctx, call: CountedCall | null): Promise<Receipt | null> => {
  const charge = await gateOf(env, accountId).announce(key ? call : null);
  if (charge.refused === null) return charge.receipt;
  throw new AppError(charge.refused, { headers: { 'Retry-After': String(charge.retryAfterSeconds) } });
};

const refund = async ({ env, accountId }: Ctx, receipt: Receipt): Promise<void> => {
  try {
    await gateOf(env, accountId).refund(receipt);
  } catch (error) {
    logError('refund_failed', error, { account_id: accountId });
  }
};

/**
 * The only way to change data that a gate has a copy of: commits the statements together with feed rows that
 * describe the changes, and returns once every verify sees them. `call` is set for a licensing call, which is counted
 * if an API key makes it and the commit succeeds.
 */
export const commit = async <T extends [Statement, ...Statement[]]>(
  ctx: Ctx,
  statements: T,
  changes: Change[],
  call: CountedCall | null = null,
): Promise<BatchResponse<T>> => {
  const createdAt = Date.now();
  const feedInsert = ctx.db
    .insert(feed)
    .values(changes.map((change) => ({ accountId: ctx.accountId, createdAt, ...change })));
  const receipt = await announce(ctx, call);
  let results;
  try {
    results = await ctx.db.batch([...statements, feedInsert]);
  } catch (error) {
    if (receipt) await refund(ctx, receipt);
    throw error;
  }
  await pull(ctx);
  // Callers expect the results of their own statements only.
  return results.slice(0, -1) as BatchResponse<T>;
};
