// License search: an index proposes candidates, newest first, and each candidate is compared with the search text.
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { type LicenseRow, licenses } from '../db/schema.ts';
import { isoDate } from '../shared/rules/dates.ts';
import { licenseState, type LicenseStatus } from '../shared/rules/licenses.ts';
import { readSearch } from '../shared/rules/search-text.ts';
import { compareCandidates, FEW_CANDIDATES, MAX_CANDIDATES } from './candidates.ts';
import { admitSearch } from './search-pace.ts';
import { beforeCursor, seqCursor } from './seq-cursor.ts';
import { hasState, newestInState } from './states.ts';
import { isMatch, mayMatch, newestByRarestTrigram, newestByRareTrigrams } from './trigrams.ts';

interface Search {
  q: string;
  status: LicenseStatus | undefined;
  /** Only licenses with a lower `seq` are returned. */
  before: SQL | undefined;
  limit: number;
  /** Holds for the licenses that are searched. All are by default. */
  condition?: SQL;
  /** Whether a license has the text. */
  matches?: typeof isMatch;
}

export interface FoundPage {
  rows: LicenseRow[];
  next_cursor: string | null;
}

const isEmail = (q: string) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(q);

const hasEmail = ({ accountId }: Ctx, email: string) =>
  and(eq(licenses.accountId, accountId), sql`lower(${licenses.customerEmail}) = ${email.toLowerCase()}`);

/** Whether the text is the whole email address of a customer. */
export const isCustomer = async (ctx: Ctx, q: string): Promise<boolean> =>
  isEmail(q) &&
  (await ctx.db.select({ seq: licenses.seq }).from(licenses).where(hasEmail(ctx, q)).limit(1)).length > 0;

const newestByEmail = (ctx: Ctx, { q, before }: Search, size: number) => sql`
  SELECT seq FROM ${licenses} INDEXED BY licenses_by_email
  WHERE ${and(hasEmail(ctx, q), before && sql`seq < ${before}`)} ORDER BY seq DESC LIMIT ${size}`;

/** Returns a page of the candidates that match, of which there are at most `size`. */
const matchingPage = async (
  ctx: Ctx,
  { q, status, limit, condition, matches = isMatch }: Search,
  candidates: SQL,
  size: number,
): Promise<FoundPage> => {
  const search = readSearch(q);
  const today = isoDate(Date.now());
  const { rows, last } = await compareCandidates(ctx, {
    candidates,
    size,
    condition: and(mayMatch(search), condition, status && hasState(ctx.accountId, status)),
    isMatch: (license) =>
      matches(license, search) && (status === undefined || licenseState(license, today) === status),
    order: sql`seq DESC`,
    limit,
  });
  return { rows, next_cursor: last && seqCursor(last) };
};

const isShort = ({ limit }: Search, { rows, next_cursor }: FoundPage) =>
  next_cursor !== null && rows.length < limit;

/** If the text is the whole email address of a customer, only this customer's licenses are candidates. */
const pageByText = async (
  ctx: Ctx,
  search: Search,
  isOfCustomer: boolean,
  size: number,
  newestByText = newestByRarestTrigram,
) => {
  const { q, before } = search;
  const candidates = isOfCustomer
    ? newestByEmail(ctx, search, size)
    : newestByText({ accountId: ctx.accountId, before }, readSearch(q), size);
  return matchingPage(ctx, search, candidates, size);
};

/** Begins with few candidates, because most pages need no more. */
export const searchLicenses = async (ctx: Ctx, search: Search): Promise<FoundPage> => {
  const { q, status, before, limit } = search;
  const isOfCustomer = await isCustomer(ctx, q);
  let page = await pageByText(ctx, search, isOfCustomer, limit + 1);
  const extend = async (size: number, newestByText?: typeof newestByRarestTrigram) => {
    const rest = { before: beforeCursor(page.next_cursor), limit: limit - page.rows.length };
    const { rows, next_cursor } = await pageByText(
      ctx,
      { ...search, ...rest },
      isOfCustomer,
      size,
      newestByText,
    );
    page = { rows: [...page.rows, ...rows], next_cursor };
  };
  if (isShort(search, page)) await extend(limit + 1, newestByRareTrigrams);
  for (const size of [FEW_CANDIDATES, MAX_CANDIDATES]) {
    if (!isShort(search, page)) return page;
    await admitSearch(ctx, size);
    await extend(size);
  }
  if (status === undefined || !isShort(search, page)) return page;
  // If the status is rarer than the text, a page of the newest licenses with this status is longer or gets further.
  const byStatus = newestInState(ctx.accountId, status, before, MAX_CANDIDATES);
  const other = await matchingPage(ctx, search, byStatus, MAX_CANDIDATES);
  const isFurther = Number(other.next_cursor) < Number(page.next_cursor);
  return other.rows.length === limit || isFurther ? other : page;
};
