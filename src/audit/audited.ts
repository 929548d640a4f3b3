import { and, eq } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { claimStatements, findClaimed, releaseClaim, toRepeatError } from '../db/idempotency.ts';
import { auditLog } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import type { AuditAction, AuditDetails } from '../shared/rules/audit.ts';
import { idWithinStorage, refuseEntry, toRow } from './audit.ts';

interface ObjectChange<T> {
  /** Throws if the change would be refused, so that refused calls write nothing. Null if only operators make the change. */
  check: (() => Promise<unknown>) | null;
  /** Each repeat with an Idempotency-Key gets the id of the first call, by which the object makes the change once. */
  makeChange: (onceId: string | null) => Promise<T>;
  /** The id of what the change makes, which is then also the id by which the change is made once. */
  makesId?: string;
  isBeyondLimits?: boolean;
}

/** Whether the change was refused. An `unavailable` with a cause may have been thrown after the change was committed. */
const isRefusal = (error: unknown) =>
  error instanceof AppError && (error.code !== 'unavailable' || error.cause === undefined);

/**
 * Makes a change in a Durable Object, which no batch can include. The entry is committed first, with the request's
 * Idempotency-Key, because a change without an entry is worse than the opposite. It is deleted if the change is refused. After any
 * other error it stays, because the object may have made the change. A full account changes nothing, unless `isBeyondLimits`.
 *
 * @example
 * await audited(ctx, ['webhook.delete', id], {
 *   check: () => findEndpoint(ctx, id),
 *   makeChange: async () => outboxOf(ctx.env, ctx.accountId).deleteEndpoint(id),
 * });
 */
export const audited = async <T>(
  ctx: Ctx,
  [action, target, details]: readonly [AuditAction, string | null, AuditDetails?],
  { check, makeChange, makesId, isBeyondLimits = false }: ObjectChange<T>,
): Promise<T> => {
  const { db, idempotency } = ctx;
  // The earlier call may have failed between its claim and the change.
  const repeat = (id: string) =>
    makeChange(id).catch((error: unknown) => {
      throw toRepeatError(error);
    });
  const earlier = idempotency && (await findClaimed(ctx, idempotency));
  if (earlier) return repeat(earlier);
  await check?.();
  const row = toRow(ctx, action, target, details ?? null);
  const accountId = isBeyondLimits ? ctx.accountId : idWithinStorage(ctx);
  const onceId = makesId ?? row.id;
  const claims = idempotency ? claimStatements(ctx, idempotency, onceId) : [];
  try {
    await db.batch([db.insert(auditLog).values({ ...row, accountId }), ...claims]);
  } catch (error) {
    // A parallel call with the same key may have claimed it.
    const first = idempotency && (await findClaimed(ctx, idempotency));
    return first ? repeat(first) : refuseEntry(error);
  }
  try {
    return await makeChange(idempotency ? onceId : null);
  } catch (error) {
    if (isRefusal(error)) {
      const isEntry = and(eq(auditLog.accountId, ctx.accountId), eq(auditLog.id, row.id));
      const releases = idempotency ? [releaseClaim(ctx, idempotency, onceId)] : [];
      await db.batch([db.delete(auditLog).where(isEntry), ...releases]);
    }
    throw error;
  }
};
