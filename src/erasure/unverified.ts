import { and, asc, eq, exists, isNull, lte, sql } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { type AccountRow, accounts, sessions, type UserRow, users, userTokens } from '../db/schema.ts';
import { commit } from '../gate/worker/commit.ts';
import { unverifiedEnding } from '../mail/account-templates.ts';
import { hasMail } from '../mail/deliver.ts';
import { letterTo } from '../mail/letter.ts';
import { sendMail } from '../mail/send.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import { copyUser } from '../users/copy.ts';
import { wakeGate } from './wake.ts';

// Erases accounts that have not proved an email address within seven days. Their owners are told two days before. Until then
// they work, unlike accounts whose owners have asked for their erasure.

const TELL_AFTER_MS = 5 * DAY_MS;
const LEFT_MS = 2 * DAY_MS;

/**
 * The most accounts that a message tells, and that one ends. D1 allows a message 1,000 queries. Telling one takes six, or 17 if
 * its proof was cut off, and ending one takes 17, or 20 if it was proved.
 */
const MAX_TOLD = 50;
const MAX_ENDED = 40;

/** In the words of the index. */
const isUnverified = sql`${accounts.isUnverified} = 1`;

type Due = Pick<AccountRow, 'id'>;

const find = ({ db }: DatabaseCtx, isDue: ReturnType<typeof and>, limit: number): Promise<Due[]> =>
  db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(isUnverified, isDue, isNull(accounts.eraseAt)))
    .orderBy(asc(accounts.unverifiedToldAt), asc(accounts.createdAt))
    .limit(limit);

const ownerCtx = (ctx: DatabaseCtx, accountId: string) => ({
  ...ctx,
  accountId,
  key: null,
  actor: SYSTEM,
  ip: null,
});

/** Notes it afterwards, so that no email is lost. Returns whether it is noted. */
const tell = async (ctx: DatabaseCtx, { id }: Due): Promise<boolean> => {
  const { env, db } = ctx;
  const user = await firstDatabase(env).select().from(users).where(eq(users.accountId, id)).get();
  // Its registration is under way, or was cut off.
  if (!user) return false;
  // The proof was cut off between the two databases.
  if (user.emailVerifiedAt !== null) {
    await copyUser(ownerCtx(ctx, id));
    return false;
  }
  const nowMs = Date.now();
  const content = unverifiedEnding(settingsOf(env).publicOrigin, nowMs + LEFT_MS);
  if (!(await sendMail(env, letterTo(user, content)))) return false;
  await db.update(accounts).set({ unverifiedToldAt: nowMs }).where(eq(accounts.id, id));
  return true;
};

/**
 * Deletes the user, unless the address was proved. Both are decided in the database of the users, so that no proof comes too
 * late. Returns the user who has proved it.
 */
const endUser = async ({ env }: DatabaseCtx, id: string): Promise<UserRow | undefined> => {
  const firstDb = firstDatabase(env);
  const isUser = and(eq(users.accountId, id), isNull(users.emailVerifiedAt));
  const isUnproved = exists(firstDb.select({ id: users.accountId }).from(users).where(isUser));
  const [, , , [user]] = await firstDb.batch([
    firstDb.delete(sessions).where(and(eq(sessions.accountId, id), isUnproved)),
    firstDb.delete(userTokens).where(and(eq(userTokens.accountId, id), isUnproved)),
    firstDb.delete(users).where(isUser),
    firstDb.select().from(users).where(eq(users.accountId, id)),
  ]);
  return user;
};

/** Ends the account. What is due to be erased is then erased as if that had been asked for. Returns whether it is ended. */
const end = async (ctx: DatabaseCtx, { id }: Due): Promise<boolean> => {
  const user = await endUser(ctx, id);
  if (user) {
    await copyUser(ownerCtx(ctx, id));
    return false;
  }
  const isStill = and(eq(accounts.id, id), isUnverified, isNull(accounts.eraseAt));
  await commit(
    ownerCtx(ctx, id),
    [ctx.db.update(accounts).set({ eraseAt: Date.now() }).where(isStill)],
    [{ kind: 'account', ref: id }],
    { isBeyondLimits: true },
  );
  // `wakeErasures` may already have run in this hour.
  await wakeGate(ctx.env, id, 0);
  return true;
};

/** Nobody can prove an address to a service that sends no mail, and nobody has to in a local run. */
const isOff = ({ env }: DatabaseCtx): boolean => !hasMail(env) || settingsOf(env).mailPreview !== null;

/** Returns how many of the accounts are told or ended, and so no longer due. */
const doEach = async (ctx: DatabaseCtx, due: Due[], work: typeof tell): Promise<number> => {
  let done = 0;
  for (const account of due) {
    try {
      if (await work(ctx, account)) done++;
    } catch (error) {
      logError('unverified_not_erased', error, { account_id: account.id });
    }
  }
  return done;
};

// Each returns whether more is due, and true only if it has finished some: accounts that always fail wait for the next hour.

/** Tells the owners who are to be told. */
export const tellUnverified = async (ctx: DatabaseCtx): Promise<boolean> => {
  if (isOff(ctx)) return false;
  const { createdAt, unverifiedToldAt } = accounts;
  const isDue = and(isNull(unverifiedToldAt), lte(createdAt, Date.now() - TELL_AFTER_MS));
  const due = await find(ctx, isDue, MAX_TOLD);
  return (await doEach(ctx, due, tell)) > 0 && due.length === MAX_TOLD;
};

/** Ends the accounts whose owners were told two days ago. */
export const eraseUnverified = async (ctx: DatabaseCtx): Promise<boolean> => {
  if (isOff(ctx)) return false;
  const due = await find(ctx, lte(accounts.unverifiedToldAt, Date.now() - LEFT_MS), MAX_ENDED);
  return (await doEach(ctx, due, end)) > 0 && due.length === MAX_ENDED;
};
