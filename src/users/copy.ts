import { and, asc, eq, lte, sql } from 'drizzle-orm';
import { databaseOf, firstDatabase } from '../db/client.ts';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { accounts, users } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { logError } from '../shared/text/log.ts';
import { getUser } from './user.ts';

// An account has a copy of its user's email address, and of whether one was proved, possibly in another database. The commit that
// changes the user notes that the copy is due, so whatever fails after it, the copy is made in the end.

/** What each change of a user sets that the account copies. */
export const copyIsDue = () => ({
  copyVersion: sql`${users.copyVersion} + 1`,
  copyDueAt: Date.now(),
});

/** Copies what the account knows of its user. A copy that comes late never replaces a newer one. */
export const copyUser = async (ctx: Ctx): Promise<void> => {
  const { db, accountId } = ctx;
  const firstDb = firstDatabase(ctx.env);
  const { email, emailVerifiedAt, copyVersion } = await getUser({ firstDb }, accountId);
  const known = { email, userVersion: copyVersion, ...(emailVerifiedAt !== null && { isUnverified: false }) };
  const isOlder = lte(accounts.userVersion, copyVersion);
  await commit(
    ctx,
    [
      db
        .update(accounts)
        .set(known)
        .where(and(eq(accounts.id, accountId), isOlder)),
    ],
    [{ kind: 'account', ref: accountId }],
    { isBeyondLimits: true },
  );
  await firstDb
    .update(users)
    .set({ copyDueAt: null })
    .where(and(eq(users.accountId, accountId), eq(users.copyVersion, copyVersion)));
};

/** Copies right after a change. The scheduled work makes up for a copy that fails. */
export const copyUserNow = async (ctx: Ctx): Promise<void> => {
  try {
    await copyUser(ctx);
  } catch (error) {
    logError('email_not_copied', error, { account_id: ctx.accountId });
  }
};

/** The most users in a run. A copy takes 14 to 16 of the 1,000 queries that D1 allows. */
const MAX_USERS = 40;
/** A younger one is being copied. */
const UNDER_WAY_MS = 60_000;

/** Makes the copies that have failed. One that fails again waits behind all others. Returns whether more are due. */
export const copyDueUsers = async ({ env, db }: DatabaseCtx): Promise<boolean> => {
  const due = await db
    .select({ id: users.accountId })
    .from(users)
    .where(lte(users.copyDueAt, Date.now() - UNDER_WAY_MS))
    .orderBy(asc(users.copyDueAt))
    .limit(MAX_USERS);
  let copied = 0;
  for (const { id } of due) {
    try {
      await copyUser({ env, db: databaseOf(env, id), accountId: id, key: null, actor: SYSTEM, ip: null });
      copied++;
    } catch (error) {
      logError('email_not_copied', error, { account_id: id });
      await db.update(users).set({ copyDueAt: Date.now() }).where(eq(users.accountId, id));
    }
  }
  return copied > 0 && due.length === MAX_USERS;
};
