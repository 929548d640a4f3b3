import { sql } from 'drizzle-orm';
import type { FirstDatabase } from '../db/client.ts';
import { throttles } from '../db/schema.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { DAY_MS } from '../shared/rules/dates.ts';

// An account and its user may be in two databases, so a registration that is cut off can leave an account without a user. Before
// such an account is erased, its user is refused: a commit that comes late would otherwise leave a user without an account.

/** Much longer than a commit can be under way. */
const REFUSED_MS = DAY_MS;

/** A hash, as all buckets, so that it names no account once that is erased. */
const bucketOf = (accountId: string) => sha256(`late_user\n${accountId}`);

/** Statement that refuses the user of an account from now on. */
export const refuseLateUser = (firstDb: FirstDatabase, accountId: string, nowMs: number) => {
  const expiresAt = nowMs + REFUSED_MS;
  return firstDb
    .insert(throttles)
    .values({ bucket: bucketOf(accountId), attempts: 0, expiresAt })
    .onConflictDoUpdate({ target: throttles.bucket, set: { expiresAt } });
};

/** The account's id, or null if its user is refused, which fails an insert. */
export const idUnlessLate = (accountId: string) =>
  sql<string>`(SELECT ${accountId} WHERE NOT EXISTS (SELECT 1 FROM throttles WHERE bucket = ${bucketOf(accountId)}))`;
