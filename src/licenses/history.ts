import { and, desc, eq, lt, or, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { licenseChanges, type LicenseRow, licenses } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { AppError } from '../shared/app-error.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { type ChangeableField, type ColumnOf, columnOf } from '../shared/rules/license-fields.ts';
import type { StoredLicenseStatus } from '../shared/rules/licenses.ts';
import type { PageInput } from '../shared/schemas/lists.ts';
import { licenseEvent, type WebhookEvent } from '../shared/text/events.ts';
import { idTimeMs } from '../shared/text/ids.ts';
import { HISTORY_FIELDS, type historyBody, type historyEntryBody } from './schemas.ts';

type Entry = z.infer<typeof historyEntryBody>;
type Change = Pick<typeof licenseChanges.$inferSelect, 'at' | 'before' | 'after'>;

/** Columns that a change sets. */
export type ChangedColumns = Partial<Pick<LicenseRow, ColumnOf<ChangeableField>>>;

/** Metadata is stored as JSON. */
const toColumnValue = (value: unknown) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

/**
 * Inserts a history row for an update of `fields`, unless the update changes nothing. Commit it in the same batch, right
 * before the update and with the same condition, so that `before` holds exactly the values that the update overwrites. A
 * trigger then deletes the oldest changes, of which the history has too many.
 */
export const recordChange = (
  { db, actor }: Ctx,
  fields: ChangedColumns,
  atMs: number,
  condition: SQL | undefined,
  reason?: string,
) => {
  const set = HISTORY_FIELDS.filter((field) => fields[columnOf(field)] !== undefined);
  const before = set.map((field) => {
    const column = licenses[columnOf(field)];
    return sql`${field}, ${column.dataType === 'json' ? sql`json(${column})` : column}`;
  });
  const after = {
    ...Object.fromEntries(set.map((field) => [field, fields[columnOf(field)]])),
    by: actor,
    ...(reason !== undefined && { reason }),
  };
  const differs = set.map(
    (field) => sql`${licenses[columnOf(field)]} IS NOT ${toColumnValue(fields[columnOf(field)])}`,
  );
  // Removes the fields that keep their value. No field has the name `none`.
  const onlyChanged = (json: SQL) =>
    sql`json_remove(${sql.join([json, ...set.map((field, i) => sql`iif(${differs[i]}, '$.none', ${`$.${field}`})`)], sql`, `)})`;
  const nextSeq = sql`(
    SELECT coalesce(max(seq), 0) + 1 FROM license_changes
    WHERE account_id = licenses.account_id AND license_id = licenses.id
  )`;
  const change = selectRow(licenseChanges, {
    accountId: sql`account_id`,
    licenseId: sql`id`,
    seq: nextSeq,
    at: atMs,
    before: onlyChanged(sql`json_object(${sql.join(before, sql`, `)})`),
    after: onlyChanged(sql`${JSON.stringify(after)}`),
  });
  return db
    .insert(licenseChanges)
    .select(sql`${change} FROM licenses WHERE ${and(condition, or(...differs) ?? sql`false`)}`);
};

const ACTION_BY_STATUS = {
  active: 'reinstated',
  suspended: 'suspended',
  revoked: 'revoked',
} as const satisfies Record<StoredLicenseStatus, Entry['action']>;

const differ = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);

type HistoryField = (typeof HISTORY_FIELDS)[number];

const actionOf = (changed: HistoryField[], status: StoredLicenseStatus | undefined) => {
  if (status && changed.includes('status')) return ACTION_BY_STATUS[status];
  if (changed.every((field) => field === 'license_key')) return 'key_rotated';
  return changed.every((field) => field === 'expires_at') ? 'renewed' : 'changed';
};

/** Returns the event of a change, which is named after its entry in the history, or null if the change changes nothing. */
export const changeEvent = (
  license: LicenseRow,
  fields: ChangedColumns,
  atMs: number,
  reason?: string,
): WebhookEvent | null => {
  const after = { ...license, ...fields };
  const changed = HISTORY_FIELDS.filter((field) => differ(license[columnOf(field)], after[columnOf(field)]));
  if (changed.length === 0) return null;
  const action = actionOf(changed, fields.status);
  if (action === 'changed') return licenseEvent('license.updated', atMs, after, { changed });
  if (action === 'renewed')
    return licenseEvent('license.renewed', atMs, after, { expires_at: after.expiresAt });
  return licenseEvent(
    `license.${action}`,
    atMs,
    after,
    action === 'key_rotated' ? {} : { reason: reason ?? null },
  );
};

const importOf = (id: string | null): Pick<Entry, 'import_id' | 'imported_at'> => ({
  import_id: id,
  imported_at: id === null ? null : isoTime(idTimeMs(id)),
});

/** Derives the action from the fields that differ. Early rows of version 0.1 also hold fields that kept their value. */
export const toHistoryEntry = ({ at, before, after }: Change): Entry => {
  const changes = HISTORY_FIELDS.filter((field) => differ(before[field], after[field])).map((field) => ({
    field,
    from: before[field] ?? null,
    to: after[field] ?? null,
  }));
  const fields = changes.map(({ field }) => field);
  return {
    action: actionOf(fields, after.status),
    at: isoTime(at),
    changes,
    by: after.by ?? null,
    reason: after.reason ?? null,
    ...importOf(after.import_id ?? null),
  };
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
      .select({ createdAt: licenses.createdAt, importId: licenses.importId })
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
  const created: Entry = {
    action: 'created',
    at: isoTime(license.createdAt),
    changes: [],
    by: null,
    reason: null,
    ...importOf(license.importId),
  };
  return { data: [...entries, created], next_cursor: null };
};
