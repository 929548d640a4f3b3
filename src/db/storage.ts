import { and, eq, type SQL, sql } from 'drizzle-orm';
import { AppError } from '../shared/app-error.ts';
import { UNVERIFIED_SHARE } from '../shared/rules/plans.ts';
import type { AccountDatabase } from './client.ts';
import type { Ctx } from './ctx.ts';
import { violatesNotNull } from './errors.ts';
import { planLimit } from './plan-limit.ts';
import { accounts, licenseTotals } from './schema.ts';

// Triggers count the bytes of an account's rows in `license_totals`. The account's gate reports the bytes of the machines there,
// which it stores itself. What an account stores elsewhere is to be added here, to `storedBytes`.

/** How many bytes the account stores, in a query of `accounts`. */
export const storedBytes = sql<number>`coalesce((
  SELECT bytes + machine_bytes FROM license_totals WHERE account_id = accounts.id
), 0)`;

/** How many bytes the account may store, in a query of `accounts`: what `storageLimit` says. */
export const storageLimitOf = (env: Env, nowMs: number): SQL<number> =>
  sql<number>`${planLimit(env, 'storageBytes', nowMs)} / iif(is_unverified, ${UNVERIFIED_SHARE}, 1)`;

/**
 * The account's id while it stores no more than it may, or if the condition holds, and otherwise null, which a column refuses.
 * D1 evaluates it in the commit itself, after what the commit has changed.
 */
export const accountWithinStorage = (
  { env, accountId }: Pick<Ctx, 'env' | 'accountId'>,
  nowMs: number,
  isNoLarger: SQL = sql`false`,
) =>
  sql<string>`iif((
    SELECT ${storedBytes} <= ${storageLimitOf(env, nowMs)}
    FROM accounts WHERE id = ${accountId}
  ) OR ${isNoLarger}, ${accountId}, NULL)`;

/** Whether the account stores as much as it may, for work that no commit refuses. */
export const isFull = async ({ env, db, accountId }: Ctx, nowMs: number): Promise<boolean> => {
  const [full] = await db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.id, accountId), sql`${storedBytes} > ${storageLimitOf(env, nowMs)}`));
  return full !== undefined;
};

/** Stores what the account's gate reports. */
export const storeMachineBytes = async (
  db: AccountDatabase,
  accountId: string,
  machineBytes: number,
): Promise<void> => {
  await db.update(licenseTotals).set({ machineBytes }).where(eq(licenseTotals.accountId, accountId));
};

/** Whether limits apply. The service itself and operators act on an account beyond its limits. */
export const isBounded = ({ actor }: Pick<Ctx, 'actor'>): boolean =>
  actor.kind !== 'operator' && actor.kind !== 'system';

/** The error to throw for one of D1: `storage_limit_reached` if the column was null, and otherwise the error itself. */
export const orStorageLimit = (
  error: unknown,
  column: 'feed.account_id' | 'audit_log.account_id',
): unknown => {
  if (!violatesNotNull(error, column)) return error;
  const message = 'The account stores as much as it may. Delete something, or get a higher limit.';
  return new AppError('storage_limit_reached', { details: [{ path: 'storage', message }] });
};
