import { and, desc, eq, lt } from 'drizzle-orm';
import type * as z from 'zod';
import { licenseChanges, licenses, type LicenseSnapshot } from '../db/schema.ts';
import { type StoredLicenseStatus } from '../shared/rules/licenses.ts';
import type { Ctx } from '../db/ctx.ts';
import type { PageInput } from '../shared/pages.ts';
import { AppError } from '../shared/app-error.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { HISTORY_FIELDS, type historyBody, type historyEntryBody } from './schemas.ts';

type Entry = z.infer<typeof historyEntryBody>;
type Change = Pick<typeof licenseChanges.$inferSelect, 'at' | 'before' | 'after'>;

const ACTION_BY_STATUS = {
  active: 'reinstated',
  suspended: 'suspended',
  revoked: 'revoked',
} as const satisfies Record<StoredLicenseStatus, Entry['action']>;

const differ = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);

const actionOf = (changes: Entry['changes'], after: LicenseSnapshot): Entry['action'] => {
  if (changes.some(({ field }) => field === 'status')) return ACTION_BY_STATUS[after.status];
  return changes.every(({ field }) => field === 'expires_at') ? 'renewed' : 'changed';
};

/** Derives a history entry from the fields that differ, so it doesn't depend on how the license was changed. */
export const toHistoryEntry = ({ at, before, after }: Change): Entry => {
  const changes = HISTORY_FIELDS.filter((field) => differ(before[field], after[field])).map((field) => ({
    field,
    from: before[field],
    to: after[field],
  }));
  return { action: actionOf(changes, after), at: isoTime(at), changes };
};

/**
 * Returns a page of a license's history, newest first. The last entry, the license's creation, isn't stored, so a full
 * page of rows is always followed by another page.
 */
export const listHistory = async (
  { db, accountId }: Ctx,
  id: string,
  { limit, cursor }: PageInput,
): Promise<z.infer<typeof historyBody>> => {
  const [[license], rows] = await db.batch([
    db
      .select({ createdAt: licenses.createdAt })
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), eq(licenses.id, id))),
    db
      .select()
      .from(licenseChanges)
      .where(
        and(
          eq(licenseChanges.accountId, accountId),
          eq(licenseChanges.licenseId, id),
          cursor === undefined ? undefined : lt(licenseChanges.seq, Number(cursor)),
        ),
      )
      .orderBy(desc(licenseChanges.seq))
      .limit(limit),
  ]);
  if (!license) throw new AppError('license_not_found');
  const entries = rows.map(toHistoryEntry);
  const last = rows.at(-1);
  if (last && rows.length === limit) return { data: entries, next_cursor: String(last.seq) };
  const created: Entry = { action: 'created', at: isoTime(license.createdAt), changes: [] };
  return { data: [...entries, created], next_cursor: null };
};
