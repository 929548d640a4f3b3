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

// Erases accounts that have not proved an email address within seven days. Their owners are told two days before. Until then
// they work, unlike accounts whose owners have asked for their erasure.

const TELL_AFTER_MS = 5 * DAY_MS;
const LEFT_MS = 2 * DAY_MS;

/** The most accounts of a database that a run tells, and that it ends. The next run continues. */
const MAX_ACCOUNTS = 100;

/** In the words of the index. */
const isUnverified = sql`${accounts.isUnverified} = 1`;

type Due = Pick<AccountRow, 'id' | 'unverifiedToldAt'>;

const find = ({ db }: DatabaseCtx, isDue: ReturnType<typeof and>): Promise<Due[]> =>
  db
    .select({ id: accounts.id, unverifiedToldAt: accounts.unverifiedToldAt })
    .from(accounts)
    .where(and(isUnverified, isDue, isNull(accounts.eraseAt)))
    .orderBy(asc(accounts.unverifiedToldAt), asc(accounts.createdAt))
    .limit(MAX_ACCOUNTS);

const ownerCtx = (ctx: DatabaseCtx, accountId: string) => ({
  ...ctx,
  accountId,
  key: null,
  actor: SYSTEM,
  ip: null,
});

/** Notes it afterwards, so that no email is lost. */
const tell = async (ctx: DatabaseCtx, { id }: Due): Promise<void> => {
  const { env, db } = ctx;
  const user = await firstDatabase(env).select().from(users).where(eq(users.accountId, id)).get();
  // Its registration is under way, or was cut off.
  if (!user) return;
  // The proof was cut off between the two databases.
  if (user.emailVerifiedAt !== null) return copyUser(ownerCtx(ctx, id));
  const nowMs = Date.now();
  const content = unverifiedEnding(settingsOf(env).publicOrigin, nowMs + LEFT_MS);
  if (!(await sendMail(env, letterTo(user, content)))) return;
  await db.update(accounts).set({ unverifiedToldAt: nowMs }).where(eq(accounts.id, id));
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

/** Ends the account. What is due to be erased is then erased as if that had been asked for. */
const end = async (ctx: DatabaseCtx, { id }: Due): Promise<void> => {
  const user = await endUser(ctx, id);
  if (user) return copyUser(ownerCtx(ctx, id));
  const isStill = and(eq(accounts.id, id), isUnverified, isNull(accounts.eraseAt));
  await commit(
    ownerCtx(ctx, id),
    [ctx.db.update(accounts).set({ eraseAt: Date.now() }).where(isStill)],
    [{ kind: 'account', ref: id }],
    { isBeyondLimits: true },
  );
};

/** Tells who is due, and ends who was told two days ago. The scheduled work runs every hour. */
export const eraseUnverified = async (ctx: DatabaseCtx): Promise<void> => {
  // Nobody can prove an address to a service that sends no mail, and nobody has to in a local run.
  if (!hasMail(ctx.env) || settingsOf(ctx.env).mailPreview !== null) return;
  const nowMs = Date.now();
  const { createdAt, unverifiedToldAt } = accounts;
  const untold = await find(ctx, and(isNull(unverifiedToldAt), lte(createdAt, nowMs - TELL_AFTER_MS)));
  const told = await find(ctx, lte(unverifiedToldAt, nowMs - LEFT_MS));
  for (const account of [...untold, ...told]) {
    try {
      await (account.unverifiedToldAt === null ? tell : end)(ctx, account);
    } catch (error) {
      logError('unverified_not_erased', error, { account_id: account.id });
    }
  }
};
