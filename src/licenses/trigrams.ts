// The search index. The FTS5 table `license_trigrams` lists the licenses that contain a trigram (three characters in a
// row, without accents) in one of the searched fields or values of the metadata. Its rowid is the account's number followed by
// the license's `seq`: a trigram's list has each account's licenses in one piece, and a search reads its own account's only.
import { and, type SQL, sql } from 'drizzle-orm';
import type { LicenseRow } from '../db/schema.ts';
import { columnOf, SEARCHED_FIELDS } from '../shared/rules/license-fields.ts';
import { MIN_SUBSTRING_LENGTH } from '../shared/rules/licenses.ts';
import {
  countCharacters,
  matchesSearch,
  type SearchText,
  type SearchWord,
} from '../shared/rules/search-text.ts';

const TRIGRAM_LENGTH = MIN_SUBSTRING_LENGTH;
/** How many of the text's trigrams are compared to find the rarest. */
const MAX_COMPARED = 8;
/** The rarest trigram is the one whose 32nd newest license is the oldest or doesn't exist. */
const DEPTH = 32;

const SEQ_BITS = sql.raw('31');

/** Stands before each field, so that a search can match the beginning of a field. */
const MARK = '\u0002\u0002';

/** The columns of the searched fields, each after a mark. No text that is searched for reaches across a mark. */
const FIELDS = sql.join(
  SEARCHED_FIELDS.map((field) => sql`char(2, 2) || coalesce(${sql.identifier(field)}, '')`),
  sql` || `,
);

/** More words than these are compared by `matchesSearch` alone. */
const MAX_WORDS = 8;

/** SQLite's lower() converts only ASCII, and JSON escapes quotes and backslashes. */
const longestPlainPart = (text: string): string =>
  text.split(/[^ !#-[\]-\x7f]+/).toSorted((a, b) => b.length - a.length)[0] ?? '';

/**
 * Whether a license may match, as far as SQL can tell. It can't take accents away, so that each license with another character
 * than ASCII may.
 */
export const mayMatch = ({ words, isBeginning }: SearchText): SQL => {
  const parts = words
    .map(({ folded }) => longestPlainPart(folded))
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS);
  const hasParts = parts.map(
    (part) =>
      sql`(instr(lower(${FIELDS}), ${isBeginning ? MARK + part : part}) OR instr(lower(metadata), ${part}))`,
  );
  return sql`(${and(...hasParts)} OR octet_length(${FIELDS} || metadata) > length(${FIELDS} || metadata))`;
};

/** The bounds of the metadata that the view `license_words` has. */
export const MAX_SEARCHED_ENTRIES = 16;
export const MAX_SEARCHED_LENGTH = 64;

const searchedMetadata = ({ metadata }: LicenseRow): string[] =>
  Object.values(metadata)
    .flatMap((value) => (typeof value === 'boolean' ? [] : [String(value)]))
    .filter((value) => countCharacters(value) <= MAX_SEARCHED_LENGTH)
    .slice(0, MAX_SEARCHED_ENTRIES);

export const isMatch = (license: LicenseRow, search: SearchText): boolean =>
  matchesSearch(
    [...SEARCHED_FIELDS.map((field) => license[columnOf(field)]), ...searchedMetadata(license)],
    search,
  );

const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** Licenses whose accents were indexed by an earlier release are found by a text with the same accents. */
const trigramsOf = ({ typed, folded }: SearchWord): string[] => {
  const characters = Array.from(folded);
  const asTyped = Array.from(typed);
  return Array.from({ length: Math.max(0, characters.length - TRIGRAM_LENGTH + 1) }, (_, start) => {
    const [trigram = '', other = ''] = [characters, asTyped].map((text) =>
      text.slice(start, start + TRIGRAM_LENGTH).join(''),
    );
    const hasOther = asTyped.length === characters.length && other !== trigram;
    return hasOther ? `${quote(trigram)} OR ${quote(other)}` : quote(trigram);
  });
};

/** Returns FTS5 queries for trigrams spread over all words. */
const trigramQueries = ({ words, isBeginning }: SearchText): string[] => {
  const marked = isBeginning
    ? words.map(({ typed, folded }) => ({ typed: MARK + typed, folded: MARK + folded }))
    : words;
  const all = marked.flatMap(trigramsOf);
  const compared = Math.min(all.length, MAX_COMPARED);
  return Array.from({ length: compared }, (_, i) => all[Math.floor((i * all.length) / compared)] ?? '');
};

/** Computes the column `index_row` of the view `license_words`. */
const indexRow = (accountId: string, seq: SQL) =>
  sql`((SELECT number FROM search_accounts WHERE account_id = ${accountId}) << ${SEQ_BITS}) + ${seq}`;

/** The account's licenses up to `before`. */
interface Range {
  accountId: string;
  before: SQL | undefined;
}

const newestByTrigram = (
  { accountId, before }: Range,
  query: SQL,
  limit: SQL | number,
  offset = 0,
): SQL => sql`
  SELECT rowid & ((1 << ${SEQ_BITS}) - 1) AS seq FROM license_trigrams
  WHERE license_trigrams MATCH ${query} AND rowid >= ${indexRow(accountId, sql`0`)}
    AND rowid < ${indexRow(accountId, before ?? sql`(1 << ${SEQ_BITS})`)}
  ORDER BY rowid DESC LIMIT ${limit} OFFSET ${offset}`;

/** A trigram is sparse if fewer than one license in so many has it. */
const SPARSE = 1_000;
/** How many licenses with a sparse trigram are compared with those that have another one. */
const MAX_INTERSECTED = 1_000;

/** The text's trigrams, each with the `seq` of the license at DEPTH, or 0. */
const trigrams = (range: Range, search: SearchText): SQL => sql`
  SELECT value AS query, coalesce((${newestByTrigram(range, sql`value`, 1, DEPTH - 1)}), 0) AS depth
  FROM json_each(${JSON.stringify(trigramQueries(search))})`;

const rarestOf = (from: SQL) => sql`(SELECT query FROM (SELECT query, min(depth) FROM ${from}))`;

/** Returns a subquery of the `seq`s of the newest licenses that contain the text's rarest trigram. */
export const newestByRarestTrigram = (range: Range, search: SearchText, limit: number): SQL =>
  newestByTrigram(range, rarestOf(sql`(${trigrams(range, search)})`), limit);

/**
 * Returns the same. But those that have a sparse trigram seldom have the whole text. If they are few, those without the text's
 * second rarest trigram are left out, before a license is read. FTS5 can match several trigrams at once, but walks their lists
 * until they agree, across all accounts and without a limit.
 */
export const newestByRareTrigrams = (range: Range, search: SearchText, limit: number): SQL => {
  const rarest = rarestOf(sql`trigrams`);
  const second = rarestOf(sql`trigrams WHERE query <> ${rarest}`);
  const isSparse = sql`(SELECT value FROM sparse)`;
  const most = sql.raw(`${MAX_INTERSECTED}`);
  return sql`
    WITH trigrams(query, depth) AS MATERIALIZED (${trigrams(range, search)}),
    sparse(value) AS MATERIALIZED (
      SELECT (${newestByTrigram(range, rarest, 1)}) - min(depth) > ${sql.raw(`${DEPTH * SPARSE}`)} FROM trigrams
    ),
    first(seq) AS MATERIALIZED (${newestByTrigram(range, rarest, sql`iif(${isSparse}, ${most}, ${limit})`)}),
    other(seq) AS MATERIALIZED (
      ${newestByTrigram(range, sql`coalesce(${second}, ${rarest})`, sql`iif(${isSparse}, ${most}, 0)`)}
    )
    SELECT seq FROM first
    WHERE iif(${isSparse}, (SELECT count(*) FROM first) = ${most} OR seq IN (SELECT seq FROM other)
      OR seq < (SELECT min(seq) FROM other HAVING count(*) = ${most}), true)
    LIMIT ${limit}`;
};
