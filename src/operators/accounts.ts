import { and, desc, eq, exists, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import { audit, auditIf } from '../audit/audit.ts';
import { type LimitedAccount, toAccountOf } from '../db/account.ts';
import { accountDatabases } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { accounts, licenseTotals } from '../db/schema.ts';
import { storedBytes } from '../db/storage.ts';
import { commit } from '../gate/worker/feed.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { ownLimits } from '../shared/config/settings.ts';
import type { PlanName } from '../shared/rules/plans.ts';
import type { PageInput } from '../shared/schemas/lists.ts';

export interface FoundAccount {
  account: LimitedAccount;
  licenses: number;
  /** How many bytes it stores. */
  bytes: number;
}

const findAccounts = async (
  { env, db }: Pick<Ctx, 'env' | 'db'>,
  condition: SQL | undefined,
  limit: number,
  order: SQL = desc(accounts.id),
) => {
  const rows = await db
    .select({ account: accounts, licenses: licenseTotals.licenses, bytes: storedBytes })
    .from(accounts)
    .leftJoin(licenseTotals, eq(licenseTotals.accountId, accounts.id))
    .where(condition)
    .orderBy(order)
    .limit(limit);
  return rows.map(({ account, licenses, bytes }) => ({
    account: toAccountOf(env, account),
    licenses: licenses ?? 0,
    bytes,
  }));
};

const matches = (q: string) => {
  const contains = (column: typeof accounts.email | typeof accounts.name) =>
    sql`instr(lower(${column}), ${q.toLowerCase()}) > 0`;
  return or(eq(accounts.id, q), contains(accounts.email), contains(accounts.name));
};

/** Returns accounts by id, or by a part of the email address or name, newest first. Later databases have newer accounts. */
export const searchAccounts = async (
  env: Env,
  { q, limit, cursor }: PageInput & { q?: string | undefined },
): Promise<FoundAccount[]> => {
  const found: FoundAccount[] = [];
  for (const { db } of accountDatabases(env).toReversed()) {
    const condition = and(q ? matches(q) : undefined, cursor ? lt(accounts.id, cursor) : undefined);
    found.push(...(await findAccounts({ env, db }, condition, limit + 1 - found.length)));
    if (found.length > limit) break;
  }
  return found;
};

/** Returns the accounts that store the most, of those that match. */
export const largestAccounts = async (
  env: Env,
  { q, limit }: { q?: string | undefined; limit: number },
): Promise<FoundAccount[]> => {
  const condition = q ? matches(q) : undefined;
  const found = await Promise.all(
    accountDatabases(env).map(({ db }) => findAccounts({ env, db }, condition, limit, desc(storedBytes))),
  );
  return found
    .flat()
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, limit);
};

const isOwn = ({ accountId }: Ctx) => eq(accounts.id, accountId);

export const getAccount = async (ctx: Ctx): Promise<FoundAccount> => {
  const [found] = await findAccounts(ctx, isOwn(ctx), 1);
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
  return getAccount(ctx);
};
