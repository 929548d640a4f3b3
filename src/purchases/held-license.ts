import { and, eq, exists, sql } from 'drizzle-orm';
import { auditAsRead } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { licenses, type LicenseRow, type PurchaseLicenseRow, purchaseLicenses } from '../db/schema.ts';
import { eventChange, type FeedChange, type Statement } from '../gate/feed/write.ts';
import { changeEvent, type ChangedColumns, recordChange } from '../licenses/history.ts';
import type { AuditAction } from '../shared/rules/audit.ts';
import { UNKNOWN_EMAIL } from '../shared/rules/licenses.ts';
import { changeLicense } from './rules/change-license.ts';
import type { PurchaseDecision } from './rules/decide.ts';

const REASONS: Partial<Record<PurchaseDecision['status'], string>> = {
  disputed: 'Payment disputed',
  refunded: 'Payment refunded',
};

const actionOf = ({ status, expiresAt }: ChangedColumns): AuditAction => {
  if (status === 'suspended') return 'license.suspend';
  if (status === 'revoked') return 'license.revoke';
  if (status === 'active') return 'license.reinstate';
  return expiresAt === undefined ? 'license.update' : 'license.renew';
};

/** Sets the address of a buyer that the store has told later. */
const addressOf = (license: LicenseRow, { email, name }: PurchaseDecision): ChangedColumns =>
  license.customerEmail === UNKNOWN_EMAIL && email !== null
    ? { customerEmail: email, ...(name !== null && { customerName: name }) }
    : {};

/** Statements that make a license of the purchase what it wants. They fail if the license is no longer as it was read. */
export const updateHeld = (
  ctx: Ctx,
  held: PurchaseLicenseRow,
  license: LicenseRow | undefined,
  decision: PurchaseDecision,
  nowMs: number,
): { statements: Statement[]; changes: FeedChange[] } => {
  const slot = decision.slots.find((one) => one.slot === held.slot);
  if (!slot || !license) return { statements: [], changes: [] };
  const wanted = held.number < slot.count ? slot.wanted : slot.rest;
  const { fields: changed, setStatus, returnsTo } = changeLicense(held, license, wanted, slot.offer.terms);
  const fields: ChangedColumns = { ...changed, ...addressOf(license, decision) };
  const noted = JSON.stringify([wanted, slot.offer, setStatus, returnsTo]);
  const isNoted = noted === JSON.stringify([held.wanted, held.offer, held.setStatus, held.returnsTo]);
  const note = ctx.db
    .update(purchaseLicenses)
    .set({ wanted, offer: slot.offer, setStatus, returnsTo })
    .where(and(eq(purchaseLicenses.accountId, ctx.accountId), eq(purchaseLicenses.licenseId, license.id)));
  if (Object.keys(fields).length === 0) return { statements: isNoted ? [] : [note], changes: [] };
  const updatedAt = Math.max(nowMs, license.updatedAt + 1);
  const isLicense = and(eq(licenses.accountId, ctx.accountId), eq(licenses.id, license.id));
  const isAsRead = and(isLicense, eq(licenses.updatedAt, license.updatedAt));
  const found = exists(
    ctx.db
      .select({ one: sql`1` })
      .from(licenses)
      .where(isAsRead),
  );
  const reason = fields.status === undefined ? undefined : REASONS[decision.status];
  const event = changeEvent(license, fields, updatedAt, reason);
  return {
    statements: [
      auditAsRead(ctx, found, actionOf(fields), license.id, { purchase: held.purchaseId }),
      recordChange(ctx, fields, updatedAt, isLicense, reason),
      ctx.db
        .update(licenses)
        .set({ ...fields, updatedAt })
        .where(isLicense),
      note,
    ],
    changes: [{ kind: 'license', ref: license.id }, ...(event ? [eventChange(event)] : [])],
  };
};
