import type { Ctx } from '../../db/ctx.ts';
import { findClaimed, wasDeleted } from '../../db/idempotency.ts';
import { AppError } from '../../shared/app-error.ts';
import { pull } from './feed.ts';

const isMissing = (error: unknown) => error instanceof AppError && error.code.endsWith('_not_found');

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
      throw isMissing(error) ? wasDeleted() : error;
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
    // A parallel call with the same key may have claimed it, or used up or changed what this one needs.
    const first = await findEarlier();
    if (first) return first.result;
    throw error;
  }
};
