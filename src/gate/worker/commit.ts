import type { SQL } from 'drizzle-orm';
import type { BatchResponse } from 'drizzle-orm/batch';
import { unlessMoved } from '../../db/client.ts';
import type { Ctx } from '../../db/ctx.ts';
import { isRejected } from '../../db/errors.ts';
import { claimStatements, findClaimed, toRepeatError } from '../../db/idempotency.ts';
import { accountWithinStorage, isBounded, orStorageLimit } from '../../db/storage.ts';
import { AppError } from '../../shared/app-error.ts';
import { randomBase62 } from '../../shared/crypto/random.ts';
import { gateOf } from '../../shared/objects/address.ts';
import { CHANGES_WHEN_FULL } from '../../shared/rules/plans.ts';
import { logError } from '../../shared/text/log.ts';
import { type FeedStatements, feedStatements, toFeedRead } from '../feed/read.ts';
import { type FeedChange, insertChanges, type Statement } from '../feed/write.ts';
import type { FeedPosition } from '../rules/rows.ts';
import type { ChangeSize, CountedCall } from '../rules/usage.ts';

const ATTEMPTS = 3;

/** Returns once every verify sees the committed changes. If the gate can't be reached, its alarm finds them later. */
const untilSeen = async ({ accountId }: Ctx, work: () => Promise<void>): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt < ATTEMPTS) continue;
      logError('gate_pull_failed', error, { account_id: accountId });
      throw new AppError('unavailable', { cause: error });
    }
  }
};

/** Returns once every verify sees the state that D1 has now, or the committed change of a row, by its id. */
export const pull = (ctx: Ctx, ref: string | null = null): Promise<void> =>
  untilSeen(ctx, async () => gateOf(ctx.env, ctx.accountId).pull(ref));

export const TOO_MANY_CHANGES = 'The account has made as many changes today as it may.';

/** Each license, product, or API key that changes is a change of the day. */
const isCounted = ({ kind }: FeedChange) => kind !== 'event' && kind !== 'erased';

/**
 * Lets the gate look for the change, and reserves the call if an API key makes it. Throws if the usage limit is reached, or the
 * account has made its changes of the day.
 */
const announce = async (
  { env, accountId, key, idempotency }: Ctx,
  token: string,
  ref: string,
  call: CountedCall | undefined,
  size: ChangeSize,
): Promise<FeedPosition> => {
  const counted = key && call ? { call, claim: idempotency?.key ?? null } : null;
  const announcement = await gateOf(env, accountId).announce(ref, counted, token, size);
  if (announcement.refused === null) return announcement.position;
  throw new AppError(announcement.refused, {
    ...(announcement.refused === 'rate_limit_exceeded' && { message: TOO_MANY_CHANGES }),
    retryAfterSeconds: announcement.retryAfterSeconds,
  });
};

/** Tells the gate that a change was not committed. Otherwise its alarm would check for it in vain. */
const abandon = async ({ env, accountId }: Ctx, token: string): Promise<void> => {
  try {
    await gateOf(env, accountId).abandon(token);
  } catch (error) {
    logError('gate_abandon_failed', error, { account_id: accountId });
  }
};

interface CommitOptions {
  /** Set for a licensing call, which is counted if an API key makes it and the change is committed. */
  counted?: CountedCall;
  /** Whether an account that has reached its limits makes the change, too: it ends or erases something. */
  isBeyondLimits?: boolean;
  /** A condition by which the change makes nothing larger. Then an account that is full makes it, as several changes of the day. */
  isNoLarger?: SQL;
  /** The id of what a repeat with the Idempotency-Key gets, if it isn't that of the first change. Not for a counted call. */
  claimsId?: string;
}

/**
 * The only way to change data that a gate has a copy of: commits the statements together with feed rows that
 * describe the changes, and returns once every verify sees them. The same batch reads the feed for the gate. If the account
 * would then store more than it may, or has made its changes of the day, nothing is committed.
 *
 * @example
 * // Once this has returned, every verify refuses the key.
 * await commit(
 *   ctx,
 *   [db.update(apiKeys).set({ deletedAt: nowMs }).where(isKey), audit(ctx, 'api_key.delete', id)],
 *   [{ kind: 'key', ref: id }],
 *   { isBeyondLimits: true },
 * );
 */
export const commit = async <T extends [Statement, ...Statement[]]>(
  ctx: Ctx,
  statements: T,
  changes: [FeedChange, ...FeedChange[]],
  { counted, isBeyondLimits = false, isNoLarger, claimsId }: CommitOptions = {},
): Promise<BatchResponse<T>> => {
  const { env, db, accountId, idempotency } = ctx;
  const token = randomBase62(12);
  const isRefusable = isBounded(ctx) && !isBeyondLimits;
  const size = {
    changes: changes.filter(isCounted).length * (isNoLarger ? CHANGES_WHEN_FULL : 1),
    isRefusable,
  };
  // A repeat asks the gate for the change by the id that it has claimed.
  const ref = claimsId ?? changes[0].ref;
  const position = await announce(ctx, token, ref, counted, size);
  // The feed rows come last, so the whole change has been made when they are refused.
  const feedOf = {
    db,
    accountId: isRefusable ? accountWithinStorage(ctx, Date.now(), isNoLarger) : accountId,
  };
  const reads = feedStatements(db, accountId, position);
  // The claim comes first, so that a repeat fails on its claim rather than on what the first call has changed.
  const claims = idempotency ? claimStatements(ctx, idempotency, ref) : [];
  const before = [...unlessMoved(env, db, accountId), ...claims];
  const batch = [...before, ...statements, ...insertChanges(feedOf, changes), ...reads];
  let results: readonly unknown[];
  try {
    results = await db.batch(batch as [Statement, ...Statement[]]);
  } catch (error) {
    // Any other error leaves open whether D1 has committed. The gate's alarm will find out.
    if (isRejected(error)) await abandon(ctx, token);
    throw orStorageLimit(error, 'feed.account_id');
  }
  const read = toFeedRead(results.slice(-reads.length) as BatchResponse<FeedStatements>, position);
  await untilSeen(ctx, async () => gateOf(env, accountId).apply(token, read));
  return results.slice(before.length, before.length + statements.length) as BatchResponse<T>;
};

/** Whether the caller has been ended meanwhile: it gets nothing, neither what the change has made nor what was there before. */
const isEnded = (error: unknown) =>
  error instanceof AppError && (error.code === 'invalid_session' || error.code === 'api_key_invalid');

/**
 * Makes a change once for an Idempotency-Key, and answers each repeat with what was changed, also if they run in parallel:
 * `commit` claims the key. `find` returns what was changed as it is now.
 *
 * @example
 * const renewed = await once(ctx, () => renewLicense(ctx, id, input), (id) => findLicense(ctx, id));
 */
export const once = async <T>(
  ctx: Ctx,
  change: () => Promise<T>,
  find: (id: string) => Promise<T>,
): Promise<T> => {
  const { idempotency } = ctx;
  if (!idempotency) return change();

  const findEarlier = async (): Promise<{ result: T } | null> => {
    const id = await findClaimed(ctx, idempotency);
    if (id === null) return null;
    const found = find(id).catch((error: unknown) => {
      throw toRepeatError(error);
    });
    // The earlier call may have failed between its commit and its pull.
    const [result] = await Promise.all([found, pull(ctx, id)]);
    return { result };
  };

  const earlier = await findEarlier();
  if (earlier) return earlier.result;
  try {
    return await change();
  } catch (error) {
    if (isEnded(error)) throw error;
    // A parallel call with the same key may have claimed it, or used up or changed what this one needs.
    const first = await findEarlier();
    if (first) return first.result;
    throw error;
  }
};
