import { and, asc, eq, gt, inArray, lte, sql } from 'drizzle-orm';
import { idempotencyKeys } from '../db/schema.ts';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { sha256 } from '../shared/hash.ts';

export interface Idempotency {
  key: string;
  requestHash: string;
}

export const toIdempotency = (key: string | undefined, input: unknown): Idempotency | null =>
  key === undefined ? null : { key, requestHash: sha256(JSON.stringify(input)) };

/** Returns the id of the license that an earlier call with this key created. Throws if that call's body differed. */
export const findLicenseIdByKey = async (
  { db, accountId }: Ctx,
  { key, requestHash }: Idempotency,
  nowMs: number,
): Promise<string | null> => {
  const [earlier] = await db
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.accountId, accountId),
        eq(idempotencyKeys.key, key),
        gt(idempotencyKeys.createdAt, nowMs - DAY_MS),
      ),
    );
  if (earlier && earlier.requestHash !== requestHash) throw new AppError('idempotency_conflict');
  return earlier?.licenseId ?? null;
};

/** Expired keys that a claim deletes. More than one, so that the keys of accounts that no longer create licenses go. */
const PRUNED_PER_CLAIM = 10;

/** Statements that claim the key for the license of the same commit, and delete the oldest expired keys of any account. */
export const claimIdempotencyKey = (
  { db, accountId }: Ctx,
  { key, requestHash }: Idempotency,
  licenseId: string,
  nowMs: number,
) => {
  const isExpired = lte(idempotencyKeys.createdAt, nowMs - DAY_MS);
  const rowid = sql`rowid`;
  const oldest = db
    .select({ rowid })
    .from(idempotencyKeys)
    .where(isExpired)
    .orderBy(asc(idempotencyKeys.createdAt))
    .limit(PRUNED_PER_CLAIM);
  return [
    db
      .delete(idempotencyKeys)
      .where(and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key), isExpired)),
    db.delete(idempotencyKeys).where(inArray(rowid, oldest)),
    db.insert(idempotencyKeys).values({ accountId, key, requestHash, licenseId, createdAt: nowMs }),
  ] as const;
};
