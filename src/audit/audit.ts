import { and, eq, type SQL, sql } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull } from '../db/errors.ts';
import { jsonValues } from '../db/json-rows.ts';
import { auditLog } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { accountWithinStorage, isBounded, orStorageLimit } from '../db/storage.ts';
import { AppError } from '../shared/app-error.ts';
import type { AuditAction, AuditDetails } from '../shared/rules/audit.ts';
import { canonicalBlock } from '../shared/rules/ip-addresses.ts';
import { newId } from '../shared/text/ids.ts';

// Statements for the batch that makes a change, so that a change and its entry are committed together or not at all. `audited`
// is for changes that no batch can include.

/** Whose account is changed, by whom, and from where. */
export type AuditCtx = Pick<Ctx, 'env' | 'accountId' | 'actor' | 'ip'>;

/** The network of an address, which says where a call came from, but not from whom. */
const anonymize = (ip: string) => canonicalBlock(`${ip}/${ip.includes(':') ? 48 : 24}`);

export const toRow = (
  { accountId, actor, ip }: AuditCtx,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null,
) => ({
  accountId,
  id: newId('aud'),
  action,
  actorKind: actor.kind,
  actorId: actor.id,
  target,
  // Entries stay for a year, even if the customer is erased before.
  ip: ip !== null && actor.kind === 'customer' ? anonymize(ip) : ip,
  details,
  readKey: null,
});

/** Inserts an entry into the account's database. */
export const audit = (
  ctx: Ctx,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null = null,
) => ctx.db.insert(auditLog).values(toRow(ctx, action, target, details));

/**
 * Inserts the entry of work that goes on, whose id its changes name. An attempt that was committed without an answer has
 * inserted it already.
 */
export const auditWork = (
  ctx: Ctx,
  id: string,
  action: AuditAction,
  details: AuditDetails,
  accountId: string | SQL<string> = ctx.accountId,
) =>
  ctx.db
    .insert(auditLog)
    .values({ ...toRow(ctx, action, null, details), id, accountId })
    .onConflictDoNothing();

/** The same within the account's storage. The caller passes the error to `refuseEntry`. */
export const auditWorkWithinStorage = (ctx: Ctx, id: string, action: AuditAction, details: AuditDetails) =>
  auditWork(ctx, id, action, details, idWithinStorage(ctx));

/** Gives such an entry, if it exists, other details. It is inserted anew, so that the triggers count its bytes. */
export const setDetails = async (
  ctx: Ctx,
  id: string,
  action: AuditAction,
  details: AuditDetails,
): Promise<void> => {
  const isEntry = and(eq(auditLog.accountId, ctx.accountId), eq(auditLog.id, id));
  const found = await ctx.db.select({ id: auditLog.id }).from(auditLog).where(isEntry);
  if (found.length === 0) return;
  await ctx.db.batch([ctx.db.delete(auditLog).where(isEntry), auditWork(ctx, id, action, details)]);
};

/**
 * Inserts the entry of a license that the same batch creates after it. It shares the license's id, by which the trigger that
 * counts the license's bytes finds it: a row of its own for that would be one more for each create.
 */
export const auditCreate = (ctx: Ctx, licenseId: string) =>
  ctx.db
    .insert(auditLog)
    .values({ ...toRow(ctx, 'license.create', licenseId, null), id: licenseId.replace('lic', 'aud') });

/**
 * Inserts an entry only if the condition holds, for a change that depends on it too. It must precede a change that ends the
 * condition.
 */
export const auditIf = (
  ctx: Ctx,
  condition: SQL,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null = null,
) => {
  const row = selectRow(auditLog, toRow(ctx, action, target, details));
  return ctx.db.insert(auditLog).select(sql`${row} WHERE ${condition}`);
};

/**
 * Inserts the entry of a change to a row that was read before. If the row is no longer as it was read, the entry's account is
 * null, which fails the batch with everything in it, events included. `untilAsRead` then reads and decides again.
 */
export const auditAsRead = (
  ctx: Ctx,
  isAsRead: SQL,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null = null,
) =>
  ctx.db.insert(auditLog).values({
    ...toRow(ctx, action, target, details),
    accountId: sql<string>`iif(${isAsRead}, ${ctx.accountId}, NULL)`,
  });

/** The same for several rows, by their ids. In `isAsRead`, `value` has the row's `target` and what else is needed. */
export const auditAllAsRead = (
  ctx: Ctx,
  rows: { target: string }[],
  isAsRead: SQL,
  action: AuditAction,
  details: AuditDetails,
) => {
  const entry = selectRow(auditLog, {
    ...toRow(ctx, action, null, details),
    ...jsonValues('id', 'target'),
    accountId: sql`iif(${isAsRead}, ${ctx.accountId}, NULL)`,
  });
  const entries = rows.map((row) => ({ ...row, id: newId('aud') }));
  return ctx.db.insert(auditLog).select(sql`${entry} FROM json_each(${JSON.stringify(entries)})`);
};

/** Each attempt of some changes in parallel lets one of them through at least. */
const ATTEMPTS = 10;

/**
 * Reads, decides, and commits with `auditAsRead`, again whenever another change came in between.
 *
 * @example
 * await untilAsRead(async () => {
 *   const product = await findProduct(ctx, code);
 *   const isAsRead = and(isProduct(ctx, code), eq(products.updatedAt, product.updatedAt));
 *   const found = exists(ctx.db.select({ code: products.code }).from(products).where(isAsRead));
 *   await commit(ctx, [auditAsRead(ctx, found, 'product.put', code), update.where(isAsRead)], changes);
 * });
 */
export const untilAsRead = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (let left = ATTEMPTS; left > 0; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!violatesNotNull(error, 'audit_log.account_id')) throw error;
    }
  }
  throw new AppError('unavailable');
};

/** Inserts an entry into the first database, which has the users and sessions, if the condition holds. */
export const auditFirst = (
  ctx: AuditCtx,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null = null,
  condition: SQL = sql`true`,
) => {
  const row = selectRow(auditLog, toRow(ctx, action, target, details));
  return firstDatabase(ctx.env)
    .insert(auditLog)
    .select(sql`${row} WHERE ${condition}`);
};

/** The account's id, or null, which fails the entry, if the account has no storage left. */
export const idWithinStorage = (ctx: Ctx) =>
  isBounded(ctx) ? accountWithinStorage(ctx, Date.now()) : ctx.accountId;

/**
 * Inserts an entry into the account's database, outside of `commit`, unless the account stores as much as it may. The caller
 * passes the error to `refuseEntry`.
 */
export const auditWithinStorage = (
  ctx: Ctx,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null = null,
) =>
  ctx.db.insert(auditLog).values({ ...toRow(ctx, action, target, details), accountId: idWithinStorage(ctx) });

export const refuseEntry = (error: unknown): never => {
  throw orStorageLimit(error, 'audit_log.account_id');
};
