import { and, eq, lte, notExists, sql } from 'drizzle-orm';
import { findLiveSubscription } from '../billing/billing.ts';
import { cancelSubscription } from '../billing/cancel-subscription.ts';
import { firstDatabase } from '../db/client.ts';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { type AccountRow, accounts, sessions, users } from '../db/schema.ts';
import { sendMail } from '../mail/send.ts';
import { accountErased } from '../mail/templates.ts';
import { logError, logLine } from '../shared/log.ts';
import { branchOf, FIRST_EPOCH, gateAt, outboxOf } from '../shared/objects.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { REGIONS } from '../shared/rules/regions.ts';
import { restoreAccount } from './restore.ts';
import { deleteRows } from './rows.ts';

// Erases accounts whose time to undo it has passed. Each step can be repeated, and the account's own row goes last, so a
// run that was cut off is completed by the next one.

/** The most accounts and batches of deletions in a run. The next run continues. */
const MAX_ACCOUNTS = 20;
/** The accounts from which a run chooses. */
const MAX_DUE = 500;
const MAX_STEPS = 400;

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
  await sendMail(env, email, accountErased());
  await db
    .update(accounts)
    .set({ email: '', name: null, customerRef: null, allowedOrigins: [] })
    .where(eq(accounts.id, accountId));
};

const eraseAccount = async (ctx: Ctx, { email }: AccountRow, mayGoOn: () => boolean): Promise<void> => {
  const { env, db, accountId } = ctx;
  if (!(await deleteUser(ctx))) return restoreAccount(ctx);
  // A checkout may have been paid since the erasure was requested.
  if (await findLiveSubscription(ctx)) await cancelSubscription(ctx, 'now', null);
  // The rows in D1 go before the gate, which would copy them again.
  const deleteAll = async () =>
    (await deleteRows(firstDatabase(env), accountId, mayGoOn)) && (await deleteRows(db, accountId, mayGoOn));
  if (!(await deleteAll())) return;
  await sendLastMail(ctx, email);
  await eraseObjects(ctx);
  // A gate that was moving has added feed rows.
  if (!(await deleteAll())) return;
  await db.delete(accounts).where(eq(accounts.id, accountId));
  logLine('info', { event: 'account_erased', account_id: accountId });
};

export const eraseDueAccounts = async (ctx: DatabaseCtx): Promise<void> => {
  const due = await ctx.db
    .select()
    .from(accounts)
    .where(lte(accounts.eraseAt, Date.now()))
    .orderBy(accounts.eraseAt)
    .limit(MAX_DUE);
  // At random, so that accounts that can't be erased now don't keep others from it.
  const chosen = Array.from({ length: MAX_ACCOUNTS }, () =>
    due.splice(Math.floor(Math.random() * due.length), 1),
  ).flat();
  let steps = 0;
  for (const account of chosen) {
    const accountCtx = { ...ctx, accountId: account.id, key: null, actor: SYSTEM, ip: null };
    try {
      await eraseAccount(accountCtx, account, () => steps++ < MAX_STEPS);
    } catch (error) {
      logError('account_not_erased', error, { account_id: account.id });
    }
  }
};
