import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson, jsonChunks, jsonValues } from '../db/json-rows.ts';
import { erasures, idempotencyKeys, licenseChanges, licenses } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { type HistoryRow, SCRUBBED_COLUMNS, type ScrubbedFields } from './scrub-license.ts';

// The statements that erase a customer from licenses that were read before. If another change comes first, neither the license
// nor its history is changed.

/** A license as it was read. */
interface AsRead {
  id: string;
  updatedAt: number;
}

export const updateHistory = ({ db, accountId }: Ctx, rows: (AsRead & HistoryRow)[]) =>
  jsonChunks(rows).map((json) => {
    const isAsRead = sql`EXISTS (
      SELECT 1 FROM licenses WHERE account_id = ${accountId} AND id = value ->> 'id'
        AND updated_at = value ->> 'updatedAt')`;
    return db
      .update(licenseChanges)
      .set({ before: sql`value ->> 'before'`, after: sql`value ->> 'after'` })
      .from(sql`json_each(${json})`)
      .where(
        and(
          eq(licenseChanges.accountId, accountId),
          sql`license_id = value ->> 'id' AND seq = value ->> 'seq'`,
          isAsRead,
        ),
      );
  });

/** The time of the update: always later than the last one, so that others see that the license has changed. */
const updateTime = (nowMs: number) => sql`max(${nowMs}, licenses.updated_at + 1)`;

/** Deletes the changes that had nothing but the customer. Only who has made them is left, and the id of an import. */
export const deleteEmptied = ({ db, accountId }: Ctx, ids: string[]) =>
  db
    .delete(licenseChanges)
    .where(
      and(
        eq(licenseChanges.accountId, accountId),
        sql`${licenseChanges.licenseId} ${inJson(ids)}`,
        sql`json_remove(${licenseChanges.after}, '$.import_id', '$.by') = '{}'`,
      ),
    );

/** With an index on the account, SQLite would read all of its licenses for each row. The unary plus rules that out. */
export const updateLicenses = (
  { db, accountId }: Ctx,
  rows: (AsRead & { seq: number } & ScrubbedFields)[],
  nowMs: number,
) =>
  jsonChunks(rows).map((json) =>
    db
      .update(licenses)
      .set({
        ...jsonValues(...SCRUBBED_COLUMNS),
        updatedAt: updateTime(nowMs),
      })
      .from(sql`json_each(${json})`)
      .where(
        sql`licenses.seq = value ->> 'seq' AND +licenses.account_id = ${accountId}
          AND +licenses.id = value ->> 'id' AND licenses.updated_at = value ->> 'updatedAt'`,
      )
      .returning({ id: licenses.id }),
  );

export const noteMachines = (
  { db, accountId }: Ctx,
  scrubbed: { id: string; untilMs: number | null }[],
  nowMs: number,
) => {
  const json = JSON.stringify(scrubbed.map(({ id, untilMs }) => ({ id, untilMs: untilMs ?? nowMs })));
  const machines = selectRow(erasures, {
    accountId,
    kind: 'machines',
    subject: sql`value ->> 'id'`,
    untilMs: sql`value ->> 'untilMs'`,
    createdAt: nowMs,
    position: '',
    names: [],
  });
  return db
    .insert(erasures)
    .select(sql`${machines} FROM json_each(${json}) WHERE true`)
    .onConflictDoUpdate({
      target: [erasures.accountId, erasures.kind, erasures.subject],
      set: { untilMs: sql`max(until_ms, excluded.until_ms)` },
    });
};

/** Forgets claims of licenses that have named the customer, if the caller has made the key from one of their names. */
export const forgetClaims = (
  { db, accountId }: Ctx,
  scrubbed: { id: string; names: readonly string[] }[],
) => {
  const names = scrubbed.flatMap((license) => license.names.map((name) => name.toLowerCase()));
  // An Idempotency-Key has no spaces.
  const spaced = (text: SQL) => sql`replace(replace(replace(${text}, '-', ' '), '_', ' '), '.', ' ')`;
  const hasName = sql`EXISTS (
    SELECT 1 FROM json_each(${JSON.stringify([...new Set(names)])})
    WHERE instr(${spaced(sql`lower(${idempotencyKeys.key})`)}, ${spaced(sql`value`)}))`;
  const isOfLicense = sql`${idempotencyKeys.targetId} ${inJson(scrubbed.map(({ id }) => id))}`;
  return db
    .delete(idempotencyKeys)
    .where(and(eq(idempotencyKeys.accountId, accountId), isOfLicense, hasName));
};
