import { and, eq, gt, lte, type SQL } from 'drizzle-orm';
import { AppError } from '../shared/app-error.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import type { Ctx, DatabaseCtx, Idempotency } from './ctx.ts';
import { deleteOldest } from './prune.ts';
import { idempotencyKeys } from './schema.ts';

// An Idempotency-Key is claimed in the commit of the change that it was sent with. Of two commits with one key the second
// fails, so a change is made once, whatever was answered.

/** What a repeat gets that can no longer be answered like the first call. */
export const wasDeleted = () =>
  new AppError('idempotency_conflict', { message: 'What This Idempotency Key Changed Was Deleted' });

/** The error that a repeat gets: what is missing to it was there for the first call. */
export const toRepeatError = (error: unknown): unknown =>
  error instanceof AppError && error.code.endsWith('not_found') ? wasDeleted() : error;

/** Returns the id of what an earlier request with the key has changed. Throws if that request was another. */
export const findClaimed = async (
  { db, accountId }: Ctx,
  { key, requestHash, atMs, onRepeat }: Idempotency,
): Promise<string | null> => {
  const [earlier] = await db
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.accountId, accountId),
        eq(idempotencyKeys.key, key),
        gt(idempotencyKeys.createdAt, atMs - DAY_MS),
      ),
    );
  if (earlier && earlier.requestHash !== requestHash) throw new AppError('idempotency_conflict');
  if (!earlier) return null;
  onRepeat();
  return earlier.targetId;
};

/** Expired keys that a claim deletes. More than one, so that the keys of accounts that no longer make changes go. */
const PRUNED_PER_CLAIM = 10;

const isExpiredAt = (nowMs: number) => lte(idempotencyKeys.createdAt, nowMs - DAY_MS);

const deleteExpired = (db: DatabaseCtx['db'], nowMs: number, limit: number) =>
  deleteOldest(db, idempotencyKeys, { time: idempotencyKeys.createdAt, throughMs: nowMs - DAY_MS, limit });

/** Statements that claim the key for a change of the same commit, and delete the oldest expired keys of any account. */
export const claimStatements = (
  { db, accountId }: Ctx,
  { key, requestHash, atMs }: Idempotency,
  targetId: string | SQL<string>,
) => [
  db
    .delete(idempotencyKeys)
    .where(and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key), isExpiredAt(atMs))),
  deleteExpired(db, atMs, PRUNED_PER_CLAIM),
  db.insert(idempotencyKeys).values({ accountId, key, requestHash, targetId, createdAt: atMs }),
];

/** Statement that frees the key of a change that was refused. */
export const releaseClaim = ({ db, accountId }: Ctx, { key }: Idempotency, targetId: string) =>
  db
    .delete(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.accountId, accountId),
        eq(idempotencyKeys.key, key),
        eq(idempotencyKeys.targetId, targetId),
      ),
    );

/** Frees the call's key, if it has one, so that a repeat makes the change that this call could not make. */
export const giveUpClaim = async (ctx: Ctx, targetId: string): Promise<void> => {
  if (ctx.idempotency) await releaseClaim(ctx, ctx.idempotency, targetId);
};

/** The most keys that a run of the scheduled work deletes. */
const PRUNED_PER_RUN = 10_000;

/** Deletes expired keys also where no more changes are made: a key can name a customer. */
export const pruneIdempotencyKeys = async ({ db }: DatabaseCtx): Promise<void> => {
  await deleteExpired(db, Date.now(), PRUNED_PER_RUN);
};
