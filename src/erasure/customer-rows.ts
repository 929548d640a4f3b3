import { and, asc, eq, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { jsonChunks, jsonValues } from '../db/json-rows.ts';
import { erasures, idempotencyKeys, licenseChanges, licenses } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import type { FeedChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/feed.ts';
import { findFormer, licensesOf, MAX_LICENSES, type SpendQueries } from './find-licenses.ts';
import { type HistoryRow, SCRUBBED_COLUMNS, type Scrubbed, scrubLicense } from './scrub-license.ts';

// Erases a customer from the rows in D1. Each commit takes some licenses with their history, and notes that the gate still
// has the names of their machines. What is left is found again, so a run that was cut off can be repeated.

/** History rows in a commit, each with metadata. */
const MAX_CHANGES = 2_000;
/** What a commit makes, about. */
const QUERIES_PER_COMMIT = 20;

/** A license as it was read. If another change comes first, neither it nor its history is changed. */
interface AsRead {
  id: string;
  updatedAt: number;
}

const inJson = (ids: string[]) => sql`IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;

const updateHistory = ({ db, accountId }: Ctx, rows: (AsRead & HistoryRow)[]) =>
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

/** Deletes the changes that had nothing but the customer. At most the id of an import is left of them. */
const deleteEmptied = ({ db, accountId }: Ctx, ids: string[]) =>
  db
    .delete(licenseChanges)
    .where(
      and(
        eq(licenseChanges.accountId, accountId),
        sql`${licenseChanges.licenseId} ${inJson(ids)}`,
        sql`json_remove(${licenseChanges.after}, '$.import_id') = '{}'`,
      ),
    );

/** With an index on the account, SQLite would read all of its licenses for each row. The unary plus rules that out. */
const updateLicenses = (
  { db, accountId }: Ctx,
  rows: (AsRead & { seq: number } & Scrubbed['license'])[],
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

const noteMachines = (
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
  });
  return db
    .insert(erasures)
    .select(sql`${machines} FROM json_each(${json}) WHERE true`)
    .onConflictDoUpdate({
      target: [erasures.accountId, erasures.kind, erasures.subject],
      set: { untilMs: sql`max(until_ms, excluded.until_ms)` },
    });
};

/** Reads licenses with their whole history, as many as fit into a commit. */
const readLicenses = async ({ db, accountId }: Ctx, ids: string[]) => {
  const among = inJson(ids);
  const [found, history] = await db.batch([
    db
      .select()
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), sql`${licenses.id} ${among}`))
      .orderBy(asc(licenses.id)),
    db
      .select()
      .from(licenseChanges)
      .where(and(eq(licenseChanges.accountId, accountId), sql`${licenseChanges.licenseId} ${among}`))
      .orderBy(asc(licenseChanges.licenseId), asc(licenseChanges.seq))
      .limit(MAX_CHANGES),
  ]);
  const changes = Map.groupBy(history, ({ licenseId }) => licenseId);
  // The history of the last license may go on.
  const endId = history.length === MAX_CHANGES ? history.at(-1)?.licenseId : undefined;
  const isRead = (id: string) => endId === undefined || id < endId;
  return { found: found.filter(({ id }) => isRead(id)), changes, later: ids.filter((id) => !isRead(id)) };
};

/** Erases the customer from licenses. Returns the ids of the changed ones, and of those that are left. */
const scrub = async (ctx: Ctx, ids: string[], email: string) => {
  const nowMs = Date.now();
  const { found, changes, later } = await readLicenses(ctx, ids);
  const scrubbed = found
    .map((license) => {
      const { id, seq, updatedAt } = license;
      return { id, seq, updatedAt, ...scrubLicense(license, changes.get(id) ?? [], email) };
    })
    // Another address may contain this one.
    .filter(({ untilMs, changes: rows }) => untilMs !== 0 || rows.length > 0);
  const touched = scrubbed.map(({ id }) => id);
  const [first, ...others] = touched.map((id): FeedChange => ({ kind: 'license', ref: id }));
  if (!first) return { changed: 0, left: later };
  const rows = scrubbed.flatMap(({ id, updatedAt, changes: ofLicense }) =>
    ofLicense.map((row) => ({ ...row, id, updatedAt })),
  );
  const updates = updateLicenses(
    ctx,
    scrubbed.map(({ id, seq, updatedAt, license }) => ({ id, seq, updatedAt, ...license })),
    nowMs,
  );
  const results: unknown[] = await commit(
    ctx,
    [
      noteMachines(ctx, scrubbed, nowMs),
      ...updateHistory(ctx, rows),
      ...updates,
      deleteEmptied(ctx, touched),
    ],
    [first, ...others],
    { isBeyondLimits: true },
  );
  const updated = new Set(
    (results.slice(-updates.length - 1, -1) as { id: string }[][]).flat().map(({ id }) => id),
  );
  const conflicts = touched.filter((id) => !updated.has(id));
  return { changed: updated.size, left: [...conflicts, ...later] };
};

const scrubAll = async (ctx: Ctx, ids: string[], email: string, spend: SpendQueries): Promise<number> => {
  let count = 0;
  for (let left = ids; left.length > 0;) {
    spend(QUERIES_PER_COMMIT);
    const scrubbed = await scrub(ctx, left, email);
    count += scrubbed.changed;
    left = scrubbed.left;
  }
  return count;
};

/** Erases the customer from D1. Returns the number of licenses. A repeat goes on at the position where this was cut off. */
export const eraseCustomerRows = async (
  ctx: Ctx,
  email: string,
  spend: SpendQueries,
  position = '',
): Promise<number> => {
  const { db, accountId } = ctx;
  let count = 0;
  for (;;) {
    spend(2);
    const found = await licensesOf(ctx, email).limit(MAX_LICENSES);
    if (found.length === 0) break;
    const ids = found.map(({ id }) => id);
    count += await scrubAll(ctx, ids, email, spend);
  }
  for await (const ids of findFormer(ctx, email, position, spend))
    count += await scrubAll(ctx, ids, email, spend);
  const namesCustomer: SQL = sql`instr(lower(${idempotencyKeys.key}), ${email})`;
  await db.delete(idempotencyKeys).where(and(eq(idempotencyKeys.accountId, accountId), namesCustomer));
  return count;
};
