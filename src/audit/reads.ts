import { type SQL, sql } from 'drizzle-orm';
import { type AccountDatabase, type FirstDatabase, firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { auditLog } from '../db/schema.ts';
import type { AuditAction, AuditDetails } from '../shared/rules/audit.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { type AuditCtx, idWithinStorage, refuseEntry, toRow } from './audit.ts';

// Entries of reads. They depend on no change, so they are inserted by themselves, and repeats leave none.

/** The same read by the same caller leaves one entry an hour, so that reading doesn't fill the database. */
const insertRead = (
  db: AccountDatabase | FirstDatabase,
  ctx: AuditCtx,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null,
  accountId: string | SQL<string> = ctx.accountId,
  keyOf = (hourly: string): string | SQL => hourly,
) => {
  const row = toRow(ctx, action, target, details);
  const hour = Math.floor(Date.now() / HOUR_MS);
  const readKey = keyOf(JSON.stringify([hour, action, row.actorKind, row.actorId, target, details]));
  return (db as AccountDatabase)
    .insert(auditLog)
    .values({ ...row, accountId, readKey: sql`${readKey}` })
    .onConflictDoNothing();
};

/**
 * Inserts an entry. If the condition holds, the call has only looked for something to change, and the same caller leaves one
 * such entry an hour.
 */
export const auditReadIf = (ctx: Ctx, condition: SQL, action: AuditAction, target: string | null) =>
  insertRead(
    ctx.db,
    ctx,
    action,
    target,
    null,
    ctx.accountId,
    (hourly) => sql`iif(${condition}, ${hourly}, NULL)`,
  );

/**
 * Inserts an entry of what a customer reads, who can't help it if the seller's account is full. Then a target leaves one in about
 * a month, whoever reads it: the seller can make any number of customers.
 */
export const auditCustomersRead = async (ctx: Ctx, action: AuditAction, target: string): Promise<void> => {
  const monthly = JSON.stringify([Math.floor(Date.now() / (30 * DAY_MS)), action, target]);
  await insertRead(
    ctx.db,
    ctx,
    action,
    target,
    null,
    ctx.accountId,
    (hourly) => sql`iif(${idWithinStorage(ctx)} IS NULL, ${monthly}, ${hourly})`,
  );
};

/** Inserts an entry of a read into the account's database, as `audited` does. */
export const auditRead = async (
  ctx: Ctx,
  action: AuditAction,
  target: string | null,
  { isBeyondLimits = false } = {},
): Promise<void> => {
  const accountId = isBeyondLimits ? ctx.accountId : idWithinStorage(ctx);
  await insertRead(ctx.db, ctx, action, target, null, accountId).catch(refuseEntry);
};

/** Inserts an entry of a read into the first database. */
export const auditReadFirst = (ctx: AuditCtx, action: AuditAction, details: AuditDetails | null = null) =>
  insertRead(firstDatabase(ctx.env), ctx, action, null, details);
