import { and, desc, eq, inArray, isNull, lte, notInArray, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys, feed } from '../db/schema.ts';
import { DAY_MS } from '../shared/rules/dates.ts';

const KEPT_MS = 90 * DAY_MS;

// A gate refuses a key that it doesn't know, so it needs the row only to learn of the deletion. Once it has, the key's
// feed row goes, and the tombstone in its copy keeps a load page that was read before the deletion from bringing the key
// back. Later pages hold live keys only.

/**
 * Deletes the rows of keys that were deleted long ago. The account's first key stays, because developer progress shows
 * when it was created.
 */
const pruneDeletedKeys = ({ db, accountId }: Ctx, nowMs: number) => {
  const unread = db
    .select({ ref: feed.ref })
    .from(feed)
    .where(and(eq(feed.accountId, accountId), eq(feed.kind, 'key')));
  return db
    .delete(apiKeys)
    .where(
      and(
        eq(apiKeys.accountId, accountId),
        lte(apiKeys.deletedAt, nowMs - KEPT_MS),
        sql`${apiKeys.id} <> (SELECT min(id) FROM api_keys WHERE account_id = ${accountId})`,
        notInArray(apiKeys.id, unread),
      ),
    );
};

/** The most expired keys that stay listed. */
const MAX_EXPIRED = 100;
/** Limits the work of one request. */
const MAX_ENDED = 500;

/** Deletes all but the newest expired keys, which a limit of live keys doesn't bound. A gate refuses them already. */
const deleteExpiredKeys = ({ db, accountId }: Ctx, nowMs: number) => {
  const old = db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt), lte(apiKeys.expiresAt, nowMs)))
    .orderBy(desc(apiKeys.id))
    .limit(MAX_ENDED)
    .offset(MAX_EXPIRED);
  return db
    .update(apiKeys)
    .set({ deletedAt: nowMs, fingerprint: '', sealed: '' })
    .where(and(eq(apiKeys.accountId, accountId), inArray(apiKeys.id, old)));
};

/** Statements that keep the number of keys without a use in bounds. */
export const pruneKeys = (ctx: Ctx, nowMs: number) =>
  [deleteExpiredKeys(ctx, nowMs), pruneDeletedKeys(ctx, nowMs)] as const;
