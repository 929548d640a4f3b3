// A list with filters or in an order. A page reads the order's index and compares a few licenses. If it stays short, those that
// the index of a filter finds are compared instead, if they are few, and otherwise more of the order's, up to a bound.
import { and, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import type { LicenseRow } from '../db/schema.ts';
import { readSearch } from '../shared/rules/search-text.ts';
import { compareCandidates, FEW_CANDIDATES, MAX_CANDIDATES } from './candidates.ts';
import { conditionsOf, type ListInput, rangeOf, sourcesOf } from './filters.ts';
import { toLicense } from './schemas.ts';
import { admitSearch } from './search-pace.ts';
import type { FoundPage } from './search.ts';
import { fieldOf, orderOf, type Sort, type Stretch, stretchesOf } from './sorts.ts';
import { isMatch } from './trigrams.ts';

export type SortedInput = ListInput & { sort: Sort };

/** What each candidate is compared with. */
const comparisonOf = ({ accountId }: Ctx, input: SortedInput, ...others: (SQL | null | undefined)[]) => {
  const search = readSearch(input.q ?? '');
  return {
    condition: and(...conditionsOf(accountId, input), ...others.map((other) => other ?? undefined)),
    isMatch: (license: LicenseRow) => !input.q || isMatch(license, search),
  };
};

const readStretch = async (
  ctx: Ctx,
  input: SortedInput,
  { index, where, order, condition, cursorAfter }: Stretch,
  { limit, size }: { limit: number; size: number },
): Promise<FoundPage> => {
  const candidates = sql`
    SELECT seq FROM licenses INDEXED BY ${sql.identifier(index)}
    WHERE account_id = ${ctx.accountId} AND ${where} ORDER BY ${order} LIMIT ${size}`;
  const comparison = comparisonOf(ctx, input, condition);
  const { rows, last } = await compareCandidates(ctx, { candidates, size, ...comparison, order, limit });
  return { rows, next_cursor: last && cursorAfter(last) };
};

/** Reads on after the cursor, `size` candidates at most from each stretch. */
const readOn = async (ctx: Ctx, input: SortedInput, size: number): Promise<FoundPage> => {
  const rows: LicenseRow[] = [];
  let end: string | null = null;
  for (const stretch of stretchesOf(input.sort, input.cursor, rangeOf(fieldOf(input.sort), input))) {
    // There may be more, but the page is full.
    if (end !== null) return { rows, next_cursor: end };
    const limit = input.limit - rows.length;
    const page = await readStretch(ctx, input, stretch, { limit, size });
    rows.push(...page.rows);
    if (page.next_cursor !== null) return { rows, next_cursor: page.next_cursor };
    const last = rows.at(-1);
    if (last && rows.length === input.limit) end = stretch.cursorAfter(last);
  }
  return { rows, next_cursor: null };
};

/** Reads on after a page that stayed short. */
const fill = async (ctx: Ctx, input: SortedInput, page: FoundPage, size: number): Promise<FoundPage> => {
  if (page.next_cursor === null) return page;
  const limit = input.limit - page.rows.length;
  const rest = await readOn(ctx, { ...input, cursor: page.next_cursor, limit }, size);
  return { rows: [...page.rows, ...rest.rows], next_cursor: rest.next_cursor };
};

/** Returns the candidates of the filter that has the fewest, or null if each has `size` or more. */
const findFew = async ({ db, accountId }: Ctx, input: SortedInput, size: number): Promise<SQL | null> => {
  const sources = sourcesOf(accountId, input, size);
  if (sources.length === 0) return null;
  const counted = sources.map((source) => sql`(SELECT count(*) FROM (${source}))`);
  const { counts } = await db.get<{ counts: string }>(
    sql`SELECT json_array(${sql.join(counted, sql`, `)}) AS counts`,
  );
  const sizes = JSON.parse(counts) as number[];
  const fewest = Math.min(...sizes);
  return fewest < size ? (sources[sizes.indexOf(fewest)] ?? null) : null;
};

/** Returns a page of candidates, of which there are fewer than `MAX_CANDIDATES`. */
export const pageAmong = async (ctx: Ctx, input: SortedInput, candidates: SQL): Promise<FoundPage> => {
  const { order, isAfter, cursorAfter } = orderOf(input.sort, input.cursor);
  const comparison = comparisonOf(ctx, input, isAfter);
  const { rows, last } = await compareCandidates(ctx, {
    candidates,
    ...comparison,
    order,
    limit: input.limit,
  });
  return { rows, next_cursor: last && cursorAfter(last) };
};

/** Begins with few candidates, because most pages need no more. */
const readPage = async (ctx: Ctx, input: SortedInput): Promise<FoundPage> => {
  const isShort = ({ rows, next_cursor }: FoundPage) => next_cursor !== null && rows.length < input.limit;
  let page = await readOn(ctx, input, input.limit + 1);
  for (const size of [FEW_CANDIDATES, MAX_CANDIDATES]) {
    if (!isShort(page)) return page;
    await admitSearch(ctx, size);
    const few = await findFew(ctx, input, size);
    if (few) return pageAmong(ctx, input, few);
    page = await fill(ctx, input, page, size);
  }
  return page;
};

export const listSorted = async (ctx: Ctx, input: SortedInput) => {
  const { rows, next_cursor } = await readPage(ctx, input);
  return { data: rows.map(toLicense), next_cursor };
};
