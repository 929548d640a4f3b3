import { and, asc, eq, gt, inArray, lte, sql } from 'drizzle-orm';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { idempotencyKeys } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { DAY_MS } from '../shared/rules/dates.ts';

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

const rowid = sql`rowid`;
const isExpiredAt = (nowMs: number) => lte(idempotencyKeys.createdAt, nowMs - DAY_MS);

const deleteOldest = (db: DatabaseCtx['db'], nowMs: number, limit: number) => {
  const oldest = db
    .select({ rowid })
    .from(idempotencyKeys)
    .where(isExpiredAt(nowMs))
    .orderBy(asc(idempotencyKeys.createdAt))
    .limit(limit);
  return db.delete(idempotencyKeys).where(inArray(rowid, oldest));
};

/** Statements that claim the key for the license of the same commit, and delete the oldest expired keys of any account. */
export const claimIdempotencyKey = (
  { db, accountId }: Ctx,
  { key, requestHash }: Idempotency,
  licenseId: string,
  nowMs: number,
) => {
  return [
    db
      .delete(idempotencyKeys)
      .where(and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key), isExpiredAt(nowMs))),
    deleteOldest(db, nowMs, PRUNED_PER_CLAIM),
    db.insert(idempotencyKeys).values({ accountId, key, requestHash, licenseId, createdAt: nowMs }),
  ] as const;
};

/** The most keys that a run of the scheduled work deletes. */
const PRUNED_PER_RUN = 10_000;

/** Deletes expired keys also where no more licenses are created: a key can name a customer. */
export const pruneIdempotencyKeys = async ({ db }: DatabaseCtx): Promise<void> => {
  await deleteOldest(db, Date.now(), PRUNED_PER_RUN);
};
