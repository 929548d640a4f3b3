// License search: an index proposes candidates, newest first, and each candidate is compared with the search text.
//
// A query compares at most MAX_CANDIDATES licenses. If these don't fill the page, the page is short, and its cursor
// continues after the last candidate.
import { and, eq, getTableColumns, type SQL, sql, Subquery } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { type LicenseRow, licenses } from '../db/schema.ts';
import { isoDate } from '../shared/rules/dates.ts';
import { licenseState, type LicenseStatus } from '../shared/rules/licenses.ts';
import { toLicense } from './schemas.ts';
import { hasState, newestInState } from './states.ts';
import { newestByRarestTrigram, searchedText, wordsOf } from './trigrams.ts';

const MAX_CANDIDATES = 1_000;

interface Search {
  q: string;
  status: LicenseStatus | undefined;
  /** Only licenses with a lower `seq` are returned. */
  before: SQL | undefined;
  limit: number;
}

const isEmail = (q: string) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(q);

const hasEmail = ({ accountId }: Ctx, email: string) =>
  and(eq(licenses.accountId, accountId), sql`lower(${licenses.customerEmail}) = ${email.toLowerCase()}`);

const isCustomer = async (ctx: Ctx, email: string) =>
  (await ctx.db.select({ seq: licenses.seq }).from(licenses).where(hasEmail(ctx, email)).limit(1)).length > 0;

const newestByEmail = (ctx: Ctx, { q, before }: Search) => sql`
  SELECT seq FROM ${licenses} INDEXED BY licenses_by_email
  WHERE ${and(hasEmail(ctx, q), before && sql`seq < ${before}`)} ORDER BY seq DESC LIMIT ${MAX_CANDIDATES}`;

/** SQLite's lower() converts only ASCII, so SQLite compares the longest ASCII part of the text, and isMatch the rest. */
const containsAsciiPart = (text: string) => {
  const parts = text.split(/[^\0-\x7f]+/).toSorted((a, b) => b.length - a.length);
  return sql`(SELECT instr(lower(words), ${parts[0]}) FROM license_words WHERE license_words.seq = licenses.seq)`;
};

const isMatch = (license: LicenseRow, text: string, status: LicenseStatus | undefined) =>
  wordsOf(license).includes(text) &&
  (status === undefined || licenseState(license, isoDate(Date.now())) === status);

/** Returns a page of the candidates that match. */
const matchingPage = async ({ db, accountId }: Ctx, { q, status, limit }: Search, candidates: SQL) => {
  const text = searchedText(q);
  const canMatch = and(containsAsciiPart(text), status && hasState(accountId, status));
  // The unary plus and iif() keep SQLite from using another index than the candidates' order.
  const found = sql`
    WITH candidates(seq) AS MATERIALIZED (${candidates}),
    last(seq) AS MATERIALIZED (SELECT iif(count(*) < ${MAX_CANDIDATES}, 0, min(seq)) FROM candidates)
    SELECT *, seq = (SELECT seq FROM last) AS is_last_candidate FROM licenses
    WHERE seq IN (SELECT seq FROM candidates) AND +account_id = ${accountId}
      AND iif(${canMatch}, true, seq = (SELECT seq FROM last))
    ORDER BY seq DESC LIMIT ${limit + 1}`;
  const rows = await db
    .select({ ...getTableColumns(licenses), isLastCandidate: sql<number>`is_last_candidate` })
    .from(new Subquery(found, {}, 'licenses'));
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const isCut = rows.length > limit || Boolean(last?.isLastCandidate);
  return {
    data: page.filter((license) => isMatch(license, text, status)).map(toLicense),
    next_cursor: isCut && last ? last.id : null,
  };
};

/** If the text is the whole email address of a customer, only this customer's licenses are candidates. */
export const searchLicenses = async (ctx: Ctx, search: Search) => {
  const { accountId } = ctx;
  const { q, status, before, limit } = search;
  const byText =
    isEmail(q) && (await isCustomer(ctx, q))
      ? newestByEmail(ctx, search)
      : newestByRarestTrigram({ accountId, before }, searchedText(q), MAX_CANDIDATES);
  const page = await matchingPage(ctx, search, byText);
  const isShort = page.next_cursor !== null && page.data.length < limit;
  if (status === undefined || !isShort) return page;
  // If the status is rarer than the text, a page of the newest licenses with this status is longer or gets further.
  const byStatus = newestInState(accountId, status, before, MAX_CANDIDATES);
  const other = await matchingPage(ctx, search, byStatus);
  const isFurther = (other.next_cursor ?? '') < (page.next_cursor ?? '');
  return other.data.length === limit || isFurther ? other : page;
};
