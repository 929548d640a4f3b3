// The search index. The FTS5 table `license_trigrams` lists the licenses that contain a trigram (three characters in a
// row) in one of the searched fields. Its rowid is the account's number followed by the license's
// `seq`: a trigram's list has each account's licenses in one piece, and a search reads its own account's only.
import { type SQL, sql } from 'drizzle-orm';
import type { LicenseRow } from '../db/schema.ts';
import { columnOf, SEARCHED_FIELDS } from '../shared/rules/license-fields.ts';
import { MIN_SUBSTRING_LENGTH } from '../shared/rules/licenses.ts';

const TRIGRAM_LENGTH = MIN_SUBSTRING_LENGTH;
/** How many of the text's trigrams are compared to find the rarest. */
const MAX_COMPARED = 8;
/** The rarest trigram is the one whose 32nd newest license is the oldest or doesn't exist. */
const DEPTH = 32;

const SEQ_BITS = sql.raw('31');

/** Stands before each field, so that a search can match the beginning of a field. */
const MARK = '\u0002\u0002';

/** Converts to lower case as FTS5 does, character by character. */
const fold = (text: string) => Array.from(text, (character) => character.toLowerCase()).join('');

/** Returns the text to look for in the fields. Less than a trigram is only found at the beginning of a field. */
export const searchedText = (q: string) => fold(Array.from(q).length < TRIGRAM_LENGTH ? MARK + q : q);

/**
 * The searched fields, each after a mark, as in the view `license_words`, where a lookup would read each license again. Their
 * order differs from the view's, which doesn't matter: no text that is searched for reaches across a mark.
 */
export const WORDS = sql.join(
  SEARCHED_FIELDS.map((field) => sql`char(2, 2) || coalesce(${sql.identifier(field)}, '')`),
  sql` || `,
);

/** The same of a license that was read, in lower case. */
export const wordsOf = (license: LicenseRow) =>
  fold(['', ...SEARCHED_FIELDS.map((field) => license[columnOf(field)] ?? '')].join(MARK));

/** Returns FTS5 queries for trigrams spread over the whole text. */
const trigramQueries = (text: string): string[] => {
  const characters = Array.from(text);
  const count = characters.length - TRIGRAM_LENGTH + 1;
  const compared = Math.min(count, MAX_COMPARED);
  return Array.from({ length: compared }, (_, index) => {
    const start = Math.floor((index * count) / compared);
    const trigram = characters.slice(start, start + TRIGRAM_LENGTH).join('');
    return `"${trigram.replaceAll('"', '""')}"`;
  });
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
const trigrams = (range: Range, text: string): SQL => sql`
  SELECT value AS query, coalesce((${newestByTrigram(range, sql`value`, 1, DEPTH - 1)}), 0) AS depth
  FROM json_each(${JSON.stringify(trigramQueries(text))})`;

const rarestOf = (from: SQL) => sql`(SELECT query FROM (SELECT query, min(depth) FROM ${from}))`;

/** Returns a subquery of the `seq`s of the newest licenses that contain the text's rarest trigram. */
export const newestByRarestTrigram = (range: Range, text: string, limit: number): SQL =>
  newestByTrigram(range, rarestOf(sql`(${trigrams(range, text)})`), limit);

/**
 * Returns the same. But those that have a sparse trigram seldom have the whole text. If they are few, those without the text's
 * second rarest trigram are left out, before a license is read. FTS5 can match several trigrams at once, but walks their lists
 * until they agree, across all accounts and without a limit.
 */
export const newestByRareTrigrams = (range: Range, text: string, limit: number): SQL => {
  const rarest = rarestOf(sql`trigrams`);
  const second = rarestOf(sql`trigrams WHERE query <> ${rarest}`);
  const isSparse = sql`(SELECT value FROM sparse)`;
  const most = sql.raw(`${MAX_INTERSECTED}`);
  return sql`
    WITH trigrams(query, depth) AS MATERIALIZED (${trigrams(range, text)}),
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
