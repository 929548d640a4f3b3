import { and, eq, exists } from 'drizzle-orm';
import { auditAsRead, untilAsRead } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { erasures, licenseChanges, licenses } from '../db/schema.ts';
import { requireVersion } from '../db/versions.ts';
import { eventChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { findLicense } from '../licenses/find.ts';
import { toLicense } from '../licenses/schemas.ts';
import { licenseEvent } from '../shared/text/events.ts';
import { logError } from '../shared/text/log.ts';
import { expectErasure, finishErasure } from './finish.ts';

/**
 * Deletes a license with its history, and, through the feed, with its seats. Its events are deleted next. If that fails, the
 * account's gate goes on with it.
 */
export const eraseLicense = async (ctx: Ctx, id: string): Promise<void> => {
  const { db, accountId } = ctx;
  const erasure = { accountId, kind: 'license', subject: id, untilMs: 0, createdAt: Date.now() } as const;
  const commitErasure = untilAsRead(async () => {
    const license = await findLicense(ctx, id);
    requireVersion(ctx, toLicense(license));
    const { licenseKey } = license;
    const isLicense = and(eq(licenses.accountId, accountId), eq(licenses.id, id));
    // A key that was replaced meanwhile is in the copy under its new name.
    const isAsRead = and(isLicense, eq(licenses.updatedAt, license.updatedAt));
    const found = exists(db.select({ id: licenses.id }).from(licenses).where(isAsRead));
    const isOfLicense = and(eq(licenseChanges.accountId, accountId), eq(licenseChanges.licenseId, id));
    await commit(
      ctx,
      [
        auditAsRead(ctx, found, 'license.delete', id),
        db.delete(licenses).where(isLicense),
        db.delete(licenseChanges).where(isOfLicense),
        db.insert(erasures).values(erasure).onConflictDoNothing(),
      ],
      [
        { kind: 'deleted', ref: id },
        { kind: 'erased', ref: licenseKey },
        eventChange(licenseEvent('license.deleted', Date.now(), license)),
      ],
      { isBeyondLimits: true },
    );
  });
  await Promise.all([commitErasure, expectErasure(ctx)]);
  try {
    await finishErasure(ctx, erasure);
  } catch (error) {
    logError('erasure_not_finished', error, { account_id: accountId });
  }
};
