import { type SQL, sql } from 'drizzle-orm';
import { type AccountDatabase, type FirstDatabase, firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { auditLog } from '../db/schema.ts';
import type { AuditAction, AuditDetails } from '../shared/rules/audit.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { type AuditCtx, idWithinStorage, refuseEntry, toRow } from './audit.ts';

// Entries of reads. They depend on no change, so they are inserted by themselves, and repeats leave none.

interface Read {
  action: AuditAction;
  target?: string | null;
  details?: AuditDetails | null;
  /** Null where the entry is refused, because the account stores as much as it may. */
  accountId?: string | SQL<string>;
  /** What repeats have in common that leave no further entry. */
  keyOf?: (hourly: string) => SQL;
}

/** The same read by the same caller leaves one entry an hour, so that reading doesn't fill the database. */
const insertRead = (
  db: AccountDatabase | FirstDatabase,
  ctx: AuditCtx,
  { action, target = null, details = null, accountId = ctx.accountId, keyOf }: Read,
) => {
  const row = toRow(ctx, action, target, details);
  const hour = Math.floor(Date.now() / HOUR_MS);
  const hourly = JSON.stringify([hour, action, row.actorKind, row.actorId, target, details]);
  return (db as AccountDatabase)
    .insert(auditLog)
    .values({ ...row, accountId, readKey: keyOf ? keyOf(hourly) : hourly })
    .onConflictDoNothing();
};

/**
 * Inserts an entry. If the condition holds, the call has only looked for something to change, and the same caller leaves one
 * such entry an hour.
 */
export const auditReadIf = (ctx: Ctx, condition: SQL, action: AuditAction, target: string | null) =>
  insertRead(ctx.db, ctx, { action, target, keyOf: (hourly) => sql`iif(${condition}, ${hourly}, NULL)` });

/**
 * Inserts an entry of what a customer reads. It is never refused, because a customer can't help it if the seller's account is full.
 * Then a target leaves one entry in 30 days, whoever reads it, because the seller can make any number of customers.
 */
export const auditCustomersRead = async (ctx: Ctx, action: AuditAction, target: string): Promise<void> => {
  const monthly = JSON.stringify([Math.floor(Date.now() / (30 * DAY_MS)), action, target]);
  await insertRead(ctx.db, ctx, {
    action,
    target,
    keyOf: (hourly) => sql`iif(${idWithinStorage(ctx)} IS NULL, ${monthly}, ${hourly})`,
  });
};

/** Inserts an entry of a read into the account's database, as `audited` does. */
export const auditRead = async (
  ctx: Ctx,
  action: AuditAction,
  target: string | null,
  { isBeyondLimits = false } = {},
): Promise<void> => {
  const accountId = isBeyondLimits ? ctx.accountId : idWithinStorage(ctx);
  await insertRead(ctx.db, ctx, { action, target, accountId }).catch(refuseEntry);
};

/** Inserts an entry of a read into the first database. */
export const auditReadFirst = (ctx: AuditCtx, action: AuditAction, details: AuditDetails | null = null) =>
  insertRead(firstDatabase(ctx.env), ctx, { action, details });
