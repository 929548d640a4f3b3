import { and, asc, eq, gt, inArray, lte, type SQL, sql } from 'drizzle-orm';
import { jsonChunks } from '../db/json-rows.ts';
import type { Ctx } from '../db/ctx.ts';
import { erasures, idempotencyKeys, licenseChanges, licenses } from '../db/schema.ts';
import { type Change, commit } from '../gate/feed.ts';
import { AppError } from '../shared/app-error.ts';
import { type HistoryRow, scrubLicense } from './scrub-license.ts';

// Erases a customer from the rows in D1. Each commit takes some licenses with their history, and notes that the gate still
// has the names of their machines. What is left is found again, so a run that was cut off can be repeated.

/** Licenses per commit. Each has a history of up to 200 changes with their metadata. */
const LICENSES_PER_COMMIT = 10;
/** History rows that a query compares. No index has the customers of earlier times. */
const ROWS_PER_QUERY = 20_000;
const MAX_CONFLICTS = 5;

const findCurrent = ({ db, accountId }: Ctx, email: string) =>
  db
    .select({ id: licenses.id })
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), sql`lower(${licenses.customerEmail}) = ${email}`))
    .limit(LICENSES_PER_COMMIT);

/** Returns the licenses whose history has the email address, in pages. */
async function* findFormer({ db, accountId }: Ctx, email: string): AsyncGenerator<string[]> {
  const isOwn = eq(licenseChanges.accountId, accountId);
  for (let after = ''; ;) {
    const isLater = and(isOwn, gt(licenseChanges.licenseId, after));
    const [end] = await db
      .select({ id: licenseChanges.licenseId })
      .from(licenseChanges)
      .where(isLater)
      .orderBy(asc(licenseChanges.licenseId))
      .limit(1)
      .offset(ROWS_PER_QUERY);
    const found = await db
      .selectDistinct({ id: licenseChanges.licenseId })
      .from(licenseChanges)
      .where(
        and(
          isLater,
          end && lte(licenseChanges.licenseId, end.id),
          sql`instr(lower(${licenseChanges.before} || ${licenseChanges.after}), ${email})`,
        ),
      );
    for (let from = 0; from < found.length; from += LICENSES_PER_COMMIT)
      yield found.slice(from, from + LICENSES_PER_COMMIT).map(({ id }) => id);
    if (!end) return;
    after = end.id;
  }
}

const updateHistory = ({ db, accountId }: Ctx, rows: (HistoryRow & { licenseId: string })[]) =>
  jsonChunks(rows).map((json) =>
    db
      .update(licenseChanges)
      .set({ before: sql`value ->> 'before'`, after: sql`value ->> 'after'` })
      .from(sql`json_each(${json})`)
      .where(
        and(
          eq(licenseChanges.accountId, accountId),
          sql`license_id = value ->> 'licenseId' AND seq = value ->> 'seq'`,
        ),
      ),
  );

/**
 * Inserts empty rows into the history, at the time of the update that follows: otherwise a trigger takes it for an update by
 * an earlier release, and records what it overwrites.
 */
const insertEmpty = ({ db, accountId }: Ctx, ids: string[], atMs: number) =>
  // The columns of license_changes, in their order.
  db.insert(licenseChanges).select(sql`
    SELECT ${accountId}, value, (
      SELECT coalesce(max(seq), 0) + 1 FROM license_changes WHERE account_id = ${accountId} AND license_id = value
    ), ${atMs}, '{}', '{}' FROM json_each(${JSON.stringify(ids)})`);

/** Deletes these rows, and changes of nothing but the customer. */
const deleteEmpty = ({ db, accountId }: Ctx, ids: string[]) =>
  db
    .delete(licenseChanges)
    .where(
      and(
        eq(licenseChanges.accountId, accountId),
        inArray(licenseChanges.licenseId, ids),
        sql`${licenseChanges.after} = '{}'`,
      ),
    );

/** Erases the customer from licenses. Returns how many of them have changed: another change may have come first. */
const scrub = async (ctx: Ctx, ids: string[], email: string): Promise<number> => {
  const { db, accountId } = ctx;
  const nowMs = Date.now();
  const [found, history] = await db.batch([
    db
      .select()
      .from(licenses)
      .where(and(eq(licenses.accountId, accountId), inArray(licenses.id, ids))),
    db
      .select()
      .from(licenseChanges)
      .where(and(eq(licenseChanges.accountId, accountId), inArray(licenseChanges.licenseId, ids)))
      .orderBy(asc(licenseChanges.licenseId), asc(licenseChanges.seq)),
  ]);
  const changesById = Map.groupBy(history, ({ licenseId }) => licenseId);
  const scrubbed = found
    .map((license) => {
      const { id, updatedAt } = license;
      return { id, updatedAt, ...scrubLicense(license, changesById.get(id) ?? [], email) };
    })
    // Another address may contain this one.
    .filter(({ untilMs, changes }) => untilMs !== 0 || changes.length > 0);
  if (scrubbed.length === 0) return 0;
  const rows = scrubbed.flatMap(({ id, changes }) => changes.map((row) => ({ ...row, licenseId: id })));
  const seats = scrubbed.map(({ id, untilMs }) => ({
    accountId,
    kind: 'machines' as const,
    subject: id,
    untilMs: untilMs ?? nowMs,
    createdAt: nowMs,
  }));
  const updateLicenses = db
    .update(licenses)
    .set({
      customerEmail: sql`value ->> '$.license.customerEmail'`,
      customerName: sql`value ->> '$.license.customerName'`,
      metadata: sql`value ->> '$.license.metadata'`,
      updatedAt: nowMs,
    })
    .from(
      sql`json_each(${JSON.stringify(scrubbed.map(({ id, updatedAt, license }) => ({ id, updatedAt, license })))})`,
    )
    .where(
      and(
        eq(licenses.accountId, accountId),
        sql`licenses.id = value ->> 'id'`,
        sql`licenses.updated_at = value ->> 'updatedAt'`,
      ),
    )
    .returning({ id: licenses.id });
  const touched = scrubbed.map(({ id }) => id);
  const [first, ...others] = touched.map((id): Change => ({ kind: 'license', ref: id }));
  const [, updated] = await commit(
    ctx,
    [
      insertEmpty(ctx, touched, nowMs),
      updateLicenses,
      ...updateHistory(ctx, rows),
      deleteEmpty(ctx, touched),
      db
        .insert(erasures)
        .values(seats)
        .onConflictDoUpdate({
          target: [erasures.accountId, erasures.kind, erasures.subject],
          set: { untilMs: sql`max(until_ms, excluded.until_ms)` },
        }),
    ],
    first ? [first, ...others] : [{ kind: 'account', ref: accountId }],
  );
  return updated.length;
};

/** Erases the customer from D1. Returns the number of licenses. */
export const eraseCustomerRows = async (ctx: Ctx, email: string): Promise<number> => {
  const { db, accountId } = ctx;
  let count = 0;
  let conflicts = 0;
  for (;;) {
    const found = await findCurrent(ctx, email);
    if (found.length === 0) break;
    const changed = await scrub(
      ctx,
      found.map(({ id }) => id),
      email,
    );
    count += changed;
    if (changed === 0 && ++conflicts > MAX_CONFLICTS) throw new AppError('unavailable');
  }
  for await (const ids of findFormer(ctx, email)) count += await scrub(ctx, ids, email);
  const namesCustomer: SQL = sql`instr(lower(${idempotencyKeys.key}), ${email})`;
  await db.delete(idempotencyKeys).where(and(eq(idempotencyKeys.accountId, accountId), namesCustomer));
  return count;
};
