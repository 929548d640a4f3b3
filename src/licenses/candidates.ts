// What lists and searches have in common: an index proposes candidates, and each is compared with the rest of the query.
// A statement compares a bounded number of them. If these don't fill the page, the page is short, and its cursor
// continues after the last candidate.
import { getTableColumns, type SQL, sql, Subquery } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { type LicenseRow, licenses } from '../db/schema.ts';

/** How many a list compares after the first page's, at the account's pace: see `admitSearch`. */
export const FEW_CANDIDATES = 100;
export const MAX_CANDIDATES = 1_000;

interface Comparison {
  /** A subquery of `seq`s, in the order of the page. */
  candidates: SQL;
  /** The limit of the subquery. */
  size?: number;
  condition?: SQL | undefined;
  /** What SQL can't compare. */
  isMatch?: (license: LicenseRow) => boolean;
  order: SQL;
  limit: number;
}

export interface ComparedPage {
  rows: LicenseRow[];
  /** The license after which the next page begins, or null if no candidate is left. */
  last: LicenseRow | null;
}

/** Returns a page of the candidates that fulfill the condition. */
export const compareCandidates = async (
  { db, accountId }: Ctx,
  { candidates, size = MAX_CANDIDATES, condition, isMatch = () => true, order, limit }: Comparison,
): Promise<ComparedPage> => {
  // CROSS JOIN, the unary plus and iif() keep SQLite from using another index than the candidates' order. They are an array,
  // because SQLite prepares a subquery of this size again for each place that names it.
  const found = sql`
    SELECT * FROM (
      SELECT licenses.*, iif(${condition ?? sql`true`}, 1, 0) AS is_match, at = ${size - 1} AS is_last
      FROM (
        SELECT key AS at, value AS candidate
        FROM json_each((SELECT json_group_array(seq) FROM (${candidates}) AS candidates))
      ) CROSS JOIN licenses ON licenses.seq = candidate
      WHERE +account_id = ${accountId}
    )
    WHERE iif(is_match = 1, true, is_last)
    ORDER BY ${order} LIMIT ${limit + 1}`;
  const rows = await db
    .select({
      ...getTableColumns(licenses),
      isMatch: sql<number>`is_match`,
      isLast: sql<number>`is_last`,
    })
    .from(new Subquery(found, {}, 'licenses'));
  const page = rows.slice(0, limit);
  const end = page.at(-1);
  const isCut = rows.length > limit || end?.isLast === 1;
  return { rows: page.filter((row) => row.isMatch === 1 && isMatch(row)), last: (isCut && end) || null };
};
