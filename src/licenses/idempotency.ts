import { and, eq, gt, lte } from 'drizzle-orm';
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

/** Statements that delete the account's expired keys, and claim the key for the license of the same commit. */
export const claimIdempotencyKey = (
  { db, accountId }: Ctx,
  { key, requestHash }: Idempotency,
  licenseId: string,
  nowMs: number,
) =>
  [
    db
      .delete(idempotencyKeys)
      .where(and(eq(idempotencyKeys.accountId, accountId), lte(idempotencyKeys.createdAt, nowMs - DAY_MS))),
    db.insert(idempotencyKeys).values({ accountId, key, requestHash, licenseId, createdAt: nowMs }),
  ] as const;
