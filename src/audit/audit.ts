import { type SQL, sql } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { auditLog } from '../db/schema.ts';
import { newId } from '../shared/ids.ts';
import type { AuditAction, AuditDetails } from '../shared/rules/audit.ts';

// Each function returns a statement for the batch that makes the change, so that a change and its entry are committed
// together or not at all.

/** Whose account is changed, by whom, and from where. */
type AuditCtx = Pick<Ctx, 'env' | 'accountId' | 'actor' | 'ip'>;

const toRow = (
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
  ip,
  details,
});

/** Inserts an entry into the account's database. */
export const audit = (
  ctx: Ctx,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null = null,
) => ctx.db.insert(auditLog).values(toRow(ctx, action, target, details));

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
  const row = toRow(ctx, action, target, details);
  const json = row.details && JSON.stringify(row.details);
  // The columns of audit_log, in their order.
  return ctx.db.insert(auditLog).select(sql`
    SELECT ${row.accountId}, ${row.id}, ${action}, ${row.actorKind}, ${row.actorId}, ${target}, ${row.ip}, ${json}
    WHERE ${condition}`);
};

/** Inserts an entry into the first database, which has the users and sessions. */
export const auditFirst = (
  ctx: AuditCtx,
  action: AuditAction,
  target: string | null,
  details: AuditDetails | null = null,
) =>
  firstDatabase(ctx.env)
    .insert(auditLog)
    .values(toRow(ctx, action, target, details));
