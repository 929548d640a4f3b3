// Finds the licenses that have or had a customer, or name them.
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { erasures, licenses } from '../db/schema.ts';
import { SCRUBBED_COLUMNS } from './scrub-license.ts';

/** Licenses per commit. */
export const MAX_LICENSES = 500;
/** Licenses that a query compares, with their history. No index has the customers of earlier times. */
const ROWS_PER_QUERY = 20_000;
/** Called before so many D1 queries are made. Throws if they would be too many. */
export type SpendQueries = (queries: number) => void;

export const licensesOf = ({ db, accountId }: Ctx, email: string) =>
  db
    .select({ id: licenses.id })
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), sql`lower(${licenses.customerEmail}) = ${email}`));

/** Statement that notes how far an erasure has looked. */
export const savePosition = ({ db, accountId }: Ctx, email: string, position: string) =>
  db
    .update(erasures)
    .set({ position })
    .where(
      and(eq(erasures.accountId, accountId), eq(erasures.kind, 'customer'), eq(erasures.subject, email)),
    );

/** A page of licenses, of which those are found that have the email address in any text, now or in their history. */
const namedIn = ({ accountId }: Ctx, email: string, after: string) => {
  const texts = SCRUBBED_COLUMNS.map((column) => sql`coalesce(${licenses[column]}, '')`);
  const names = (text: SQL) => sql`instr(lower(${text}), ${email})`;
  const pastNames = sql`EXISTS (
    SELECT 1 FROM license_changes WHERE account_id = ${accountId} AND license_id = licenses.id
      AND ${names(sql`before || after`)})`;
  return sql`
    SELECT max(id) AS end, count(*) AS rows, json_group_array(id) FILTER (WHERE is_named) AS found
    FROM (
      SELECT id, ${names(sql.join(texts, sql` || ' ' || `))} OR ${pastNames} AS is_named FROM licenses
      WHERE account_id = ${accountId} AND id > ${after} ORDER BY id LIMIT ${ROWS_PER_QUERY}
    )`;
};

/**
 * Returns the licenses that have the email address in any text, now or in their history, in pages, from where an earlier call has
 * stopped. What was looked through before is not looked through again: a call that goes on finds what was there when the first
 * one began. The last position is kept, for a call that is cut off in the steps after this one.
 */
export async function* findNamed(
  ctx: Ctx,
  email: string,
  position: string,
  spend: SpendQueries,
): AsyncGenerator<string[]> {
  const passed = async (id: string) => {
    spend(1);
    await savePosition(ctx, email, id);
  };
  for (let after = position; ;) {
    spend(1);
    const [page] = await ctx.db.all<{ end: string | null; rows: number; found: string }>(
      namedIn(ctx, email, after),
    );
    const found = (JSON.parse(page?.found ?? '[]') as string[]).toSorted();
    for (let from = 0; from < found.length; from += MAX_LICENSES) {
      const group = found.slice(from, from + MAX_LICENSES);
      yield group;
      // A license that contains only a longer address is found by every run, and costs queries each time.
      if (from + MAX_LICENSES < found.length) await passed(group.at(-1) ?? '');
    }
    if (page?.rows !== ROWS_PER_QUERY || page.end === null) return;
    after = page.end;
    await passed(after);
  }
}
