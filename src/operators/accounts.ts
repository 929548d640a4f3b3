import { and, desc, eq, exists, isNotNull, isNull, lt, notInArray, or, type SQL, sql } from 'drizzle-orm';
import { audit, auditIf } from '../audit/audit.ts';
import { type LimitedAccount, toAccountOf } from '../db/account.ts';
import { accountDatabases, type NamedDatabase, placeOf } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { accounts, licenseTotals, movedAccounts } from '../db/schema.ts';
import { storedBytes } from '../db/storage.ts';
import { commit } from '../gate/worker/commit.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { ownLimits } from '../shared/config/settings.ts';
import type { PlanName } from '../shared/rules/plans.ts';
import type { PageInput } from '../shared/schemas/lists.ts';
import { releaseMails } from '../stores/work.ts';

export interface FoundAccount {
  account: LimitedAccount;
  licenses: number;
  /** How many bytes it stores. */
  bytes: number;
  /** The binding of its database, and of the one that it moves to. */
  database: string;
  movingTo: string | null;
}

const findAccounts = async (
  env: Env,
  { db, binding }: Pick<NamedDatabase, 'db' | 'binding'>,
  condition: SQL | undefined,
  limit: number,
  order: SQL = desc(accounts.id),
): Promise<FoundAccount[]> => {
  const isLeaving = and(eq(movedAccounts.id, accounts.id), eq(movedAccounts.state, 'leaving'));
  const rows = await db
    .select({
      account: accounts,
      licenses: licenseTotals.licenses,
      bytes: storedBytes,
      movingTo: movedAccounts.other,
    })
    .from(accounts)
    .leftJoin(licenseTotals, eq(licenseTotals.accountId, accounts.id))
    .leftJoin(movedAccounts, isLeaving)
    .where(condition)
    .orderBy(order)
    .limit(limit);
  return rows.map(({ account, licenses, bytes, movingTo }) => ({
    account: toAccountOf(env, account),
    licenses: licenses ?? 0,
    bytes,
    database: binding,
    movingTo,
  }));
};

/** Leaves out accounts whose rows are in the database because they move, but which are in another one. */
const isHere = async (env: Env, { binding, db }: NamedDatabase): Promise<SQL | undefined> => {
  if (accountDatabases(env).length === 1) return undefined;
  const onTheWay = await db
    .select({ id: movedAccounts.id })
    .from(movedAccounts)
    .where(sql`${movedAccounts.state} IN ('leaving', 'arriving')`);
  const elsewhere: string[] = [];
  for (const { id } of onTheWay) if ((await placeOf(env, id)).binding !== binding) elsewhere.push(id);
  return notInArray(accounts.id, elsewhere);
};

const matches = (q: string) => {
  const contains = (column: typeof accounts.email | typeof accounts.name) =>
    sql`instr(lower(${column}), ${q.toLowerCase()}) > 0`;
  return or(eq(accounts.id, q), contains(accounts.email), contains(accounts.name));
};

const findInAll = async (env: Env, condition: SQL | undefined, limit: number, order?: SQL) => {
  const found = accountDatabases(env).map(async (database) =>
    findAccounts(env, database, and(condition, await isHere(env, database)), limit, order),
  );
  return (await Promise.all(found)).flat();
};

/** Returns accounts by id, or by a part of the email address or name, newest first. */
export const searchAccounts = async (
  env: Env,
  { q, limit, cursor }: PageInput & { q?: string | undefined },
): Promise<FoundAccount[]> => {
  const condition = and(q ? matches(q) : undefined, cursor ? lt(accounts.id, cursor) : undefined);
  const found = await findInAll(env, condition, limit + 1);
  return found.toSorted((a, b) => (a.account.id < b.account.id ? 1 : -1)).slice(0, limit + 1);
};

/** Returns the accounts that store the most, of those that match. */
export const largestAccounts = async (
  env: Env,
  { q, limit }: { q?: string | undefined; limit: number },
): Promise<FoundAccount[]> => {
  const found = await findInAll(env, q ? matches(q) : undefined, limit, desc(storedBytes));
  return found.toSorted((a, b) => b.bytes - a.bytes).slice(0, limit);
};

const isOwn = ({ accountId }: Ctx) => eq(accounts.id, accountId);

export const getAccount = async (ctx: Ctx): Promise<FoundAccount> => {
  const { binding } = await placeOf(ctx.env, ctx.accountId);
  const [found] = await findAccounts(ctx.env, { db: ctx.db, binding }, isOwn(ctx), 1);
  if (!found) throw new AppError('not_found', { message: 'Account Not Found' });
  return found;
};

/** Suspends or reinstates an account. Once this has returned, no call anywhere sees the old state. */
export const setSuspended = async (ctx: Ctx, isSuspended: boolean): Promise<FoundAccount> => {
  await getAccount(ctx);
  const { db, accountId } = ctx;
  const isOther = and(isOwn(ctx), (isSuspended ? isNull : isNotNull)(accounts.suspendedAt));
  const willChange = exists(db.select({ id: accounts.id }).from(accounts).where(isOther));
  await commit(
    ctx,
    [
      auditIf(ctx, willChange, isSuspended ? 'account.suspend' : 'account.reinstate', null),
      db
        .update(accounts)
        .set({ suspendedAt: isSuspended ? Date.now() : null })
        .where(isOther),
    ],
    [{ kind: 'account', ref: accountId }],
  );
  return getAccount(ctx);
};

/** Grants a plan beside what the account pays for, of which the better one applies. The plan `free` ends the grant. */
export const grantPlan = async (ctx: Ctx, plan: PlanName, untilMs: number | null): Promise<FoundAccount> => {
  await getAccount(ctx);
  if (ownLimits(ctx.env))
    throw invalidField('plan', 'must be absent, because the service sells no plans (PAYMENTS)');
  const until = untilMs === null ? null : new Date(untilMs).toISOString();
  await commit(
    ctx,
    [
      audit(ctx, 'plan.grant', null, { plan, until }),
      ctx.db
        .update(accounts)
        .set({ grantedPlan: plan === 'free' ? null : plan, grantedUntil: untilMs })
        .where(isOwn(ctx)),
    ],
    [{ kind: 'account', ref: ctx.accountId }],
  );
  await releaseMails(ctx.env, ctx.accountId);
  return getAccount(ctx);
};
