import { and, eq, lte, notInArray, sql } from 'drizzle-orm';
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
export const pruneDeletedKeys = ({ db, accountId }: Ctx, nowMs: number) => {
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
