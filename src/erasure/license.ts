import { and, eq, exists, notExists, sql } from 'drizzle-orm';
import { auditIf } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { erasures, licenseChanges, licenses } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { commit } from '../gate/worker/feed.ts';
import { findLicense } from '../licenses/find.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/text/log.ts';
import { finishErasures } from './finish.ts';

/**
 * Deletes a license with its history, and, through the feed, with its seats. Its events are deleted next. If that fails, the
 * scheduled work goes on with it.
 */
export const eraseLicense = async (ctx: Ctx, id: string): Promise<void> => {
  const { db, accountId } = ctx;
  const { licenseKey } = await findLicense(ctx, id);
  const isLicense = and(eq(licenses.accountId, accountId), eq(licenses.id, id));
  // A key that was replaced meanwhile is in the copy under its new name.
  const isAsRead = and(isLicense, eq(licenses.licenseKey, licenseKey));
  const left = db
    .select({ one: sql`1` })
    .from(licenses)
    .where(isLicense);
  const willErase = exists(db.select({ id: licenses.id }).from(licenses).where(isAsRead));
  const erasure = { accountId, kind: 'license', subject: id, untilMs: 0, createdAt: Date.now() } as const;
  const [, erased] = await commit(
    ctx,
    [
      auditIf(ctx, willErase, 'license.delete', id),
      db.delete(licenses).where(isAsRead).returning({ id: licenses.id }),
      db
        .delete(licenseChanges)
        .where(
          and(eq(licenseChanges.accountId, accountId), eq(licenseChanges.licenseId, id), notExists(left)),
        ),
      db
        .insert(erasures)
        .select(sql`${selectRow(erasures, erasure)} WHERE ${notExists(left)}`)
        .onConflictDoNothing(),
    ],
    [
      { kind: 'deleted', ref: id },
      { kind: 'erased', ref: licenseKey },
    ],
    { isBeyondLimits: true },
  );
  if (erased.length === 0) throw new AppError('unavailable');
  try {
    await finishErasures(ctx, erasure);
  } catch (error) {
    logError('erasure_not_finished', error, { account_id: accountId });
  }
};
