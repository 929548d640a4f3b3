import { and, eq, lte, notExists, sql } from 'drizzle-orm';
import { restoreAccount } from '../accounts/account.ts';
import { findLiveSubscription } from '../billing/billing.ts';
import { cancelSubscription } from '../billing/cancel-subscription.ts';
import { firstDatabase } from '../db/client.ts';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { accounts, sessions, users } from '../db/schema.ts';
import { sendMail } from '../mail/send.ts';
import { accountErased } from '../mail/templates.ts';
import { branchOf, FIRST_EPOCH, gateAt, outboxOf } from '../shared/objects/address.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { REGIONS } from '../shared/rules/regions.ts';
import { logError, logLine } from '../shared/text/log.ts';
import { deleteRows } from './rows.ts';

// Erases accounts whose time to undo it has passed. Each step can be repeated, and the account's own row goes last, so a
// run that was cut off is completed by the next one.

/** The most accounts in a run. The next run continues. */
const MAX_ACCOUNTS = 10;
/** The accounts from which a run chooses. */
const MAX_DUE = 500;
/** The most queries of a run that delete rows. D1 allows 1,000 queries in a run of the scheduled work. */
const MAX_QUERIES = 400;

/**
 * Deletes the user, from which nobody can return. Returns false for an account with a session: its holder has signed in
 * while the erasure was requested.
 */
const deleteUser = async ({ env, accountId }: Ctx): Promise<boolean> => {
  const firstDb = firstDatabase(env);
  const hasSession = firstDb
    .select({ one: sql`1` })
    .from(sessions)
    .where(eq(sessions.accountId, accountId));
  const [, left] = await firstDb.batch([
    firstDb.delete(users).where(and(eq(users.accountId, accountId), notExists(hasSession))),
    firstDb.select({ accountId: users.accountId }).from(users).where(eq(users.accountId, accountId)),
  ]);
  return left.length === 0;
};

/** The outbox goes last, because the others send it events. */
const eraseObjects = async ({ env, accountId }: Ctx): Promise<void> => {
  await Promise.all(REGIONS.map(async (region) => branchOf(env, accountId, region).erase()));
  await gateAt(env, accountId, FIRST_EPOCH).erase();
  await outboxOf(env, accountId).erase();
};

/**
 * Sends the last email, and empties the account's row, which only marks the unfinished work from then on. An erased gate
 * copies that row if it is called by an old API key.
 */
const sendLastMail = async ({ env, db, accountId }: Ctx, email: string): Promise<void> => {
  if (email === '') return;
  await sendMail(env, { to: email, content: accountErased(), accountId, isUnverified: false });
  await db
    .update(accounts)
    .set({ email: '', name: null, customerRef: null, allowedOrigins: [] })
    .where(eq(accounts.id, accountId));
};

/** Returns the email address of an account that is still to be erased. */
const findDueEmail = async ({ db, accountId }: Ctx): Promise<string | undefined> => {
  const [due] = await db
    .select({ email: accounts.email })
    .from(accounts)
    .where(and(eq(accounts.id, accountId), lte(accounts.eraseAt, Date.now())));
  return due?.email;
};

const eraseAccount = async (ctx: Ctx, spend: (queries: number) => boolean): Promise<void> => {
  const { env, db, accountId } = ctx;
  // Its holder may have signed in since the run began.
  const email = await findDueEmail(ctx);
  if (email === undefined) return;
  if (!(await deleteUser(ctx))) return restoreAccount(ctx);
  // A checkout may have been paid since the erasure was requested.
  if (await findLiveSubscription(ctx)) await cancelSubscription(ctx, 'now');
  // The rows in D1 go before the gate, which would copy them again.
  const deleteAll = async () =>
    (await deleteRows(firstDatabase(env), accountId, spend)) && (await deleteRows(db, accountId, spend));
  if (!(await deleteAll())) return;
  await sendLastMail(ctx, email);
  await eraseObjects(ctx);
  // A gate that was moving has added feed rows.
  if (!(await deleteAll())) return;
  // The row goes in the next run, which also deletes what calls that were under way have added, such as payment notifications.
  if (email !== '') return;
  await db.delete(accounts).where(eq(accounts.id, accountId));
  logLine('info', { event: 'account_erased', account_id: accountId });
};

export const eraseDueAccounts = async (ctx: DatabaseCtx): Promise<void> => {
  const due = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(lte(accounts.eraseAt, Date.now()))
    .orderBy(accounts.eraseAt)
    .limit(MAX_DUE);
  // At random, so that accounts that can't be erased now don't keep others from it.
  const chosen = Array.from({ length: MAX_ACCOUNTS }, () =>
    due.splice(Math.floor(Math.random() * due.length), 1),
  ).flat();
  let queries = 0;
  const spend = (more: number) => (queries += more) <= MAX_QUERIES;
  for (const { id: accountId } of chosen) {
    const accountCtx = { ...ctx, accountId, key: null, actor: SYSTEM, ip: null };
    try {
      await eraseAccount(accountCtx, spend);
    } catch (error) {
      logError('account_not_erased', error, { account_id: accountId });
    }
  }
};
