// License search. The FTS5 table `license_search` has a row for each license, whose rowid is the license's `seq`. For
// every trigram (three characters in a row), it lists the rows whose license key, email address, name or product contain
// it. Reading a trigram's list takes time in proportion to its length, so the strategy depends on the search text:
//
// 1. A complete email address of one of the account's customers is looked up in the index on email addresses.
// 2. A short text, or one that isn't ASCII, is searched for as a whole with an FTS5 phrase query.
// 3. A longer text has too many trigrams, and most of them are common. Searching for its three rarest trigrams, judged by
//    a sample of the account's licenses, yields candidates, and `instr` keeps those that contain the whole text.
// 4. If the search is limited to `suspended` or `revoked`, few licenses pass this filter. If the text is also common in
//    the sample, the licenses with that status are scanned and tested one by one instead.
//
// A search is a single SQL statement. Where the strategy depends on the data, the statement contains each alternative
// with a LIMIT of 0 unless its conditions hold, and SQLite doesn't read anything for a LIMIT of 0.
import { and, type SQL, sql } from 'drizzle-orm';
import { licenses } from '../db/schema.ts';

const TRIGRAM_LENGTH = 3;
/** Up to this length, the index is searched for the whole text. */
const MAX_PHRASE_LENGTH = 8;
/** How many of the text's trigrams are counted in the sample, and the size of the sample. */
const MAX_COUNTED_TRIGRAMS = 24;
const SAMPLE_SIZE = 64;
/** How many of the rarest trigrams are searched for. */
const MAX_RAREST = 3;
/** Trigrams found this much more often than the rarest aren't used: reading their lists costs more than it saves. */
const MAX_EXTRA_COUNT = SAMPLE_SIZE / 16;
/** From this count in the sample on, a text is common. */
const COMMON_COUNT = SAMPLE_SIZE / 16;
/**
 * With fewer candidates than this across all accounts, each candidate is tested. With more, the index narrows them down
 * to the account, which means reading the account's own list.
 */
const MAX_CANDIDATES = 50;

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

/**
 * The part of an FTS5 query that selects the account. The index holds the last six characters of the account id, but one
 * trigram of them is selective enough, and each further one means reading another list as long as the account.
 */
const accountTerm = (accountId: string) => `account : ${quoted(accountId.slice(-TRIGRAM_LENGTH))}`;

/** Builds the FTS5 query for a whole text. With less than a trigram, it matches the beginning of a field. */
const phraseQuery = (accountId: string, q: string) => {
  // The index puts two marks before each field.
  const phrase = Array.from(q).length < TRIGRAM_LENGTH ? `\u0002\u0002${q}` : q;
  return `${accountTerm(accountId)} AND words : ${quoted(phrase)}`;
};

/** The text that was indexed, in lower case. SQLite's lower() only converts ASCII. */
const indexedText = sql`lower(${licenses.licenseKey} || char(2, 2) || ${licenses.customerEmail} || char(2, 2) || coalesce(${licenses.customerName}, '') || char(2, 2) || coalesce(${licenses.product}, ''))`;

/** Text that isn't ASCII can only be compared by the FTS5 index, which also folds the case of other letters. */
const isAscii = (q: string) => !/[^ -~]/.test(q);

const containsText = (q: string) => sql`instr(${indexedText}, ${q.toLowerCase()})`;

/** Returns trigrams spread over the whole text. Trigrams without punctuation come first, because they tend to be rarer. */
const trigramsToCount = (q: string): string[] => {
  const ranked = Array.from({ length: q.length - TRIGRAM_LENGTH + 1 }, (_, at) => {
    const trigram = q.slice(at, at + TRIGRAM_LENGTH);
    // Multiples of the golden ratio, modulo 1, are spread evenly.
    return { trigram, rank: ((at * 0.618_034) % 1) + Number(/[^a-z0-9]/.test(trigram)) };
  }).toSorted((a, b) => a.rank - b.rank);
  return [...new Set(ranked.map(({ trigram }) => trigram))].slice(0, MAX_COUNTED_TRIGRAMS);
};

/** Puts a number into the SQL text itself, where the query planner can see it. */
const literal = (value: number) => sql.raw(String(value));

/** Selects the account's licenses with the lowest keys. Generated keys are random, so they are a random sample. */
const sampleQuery = (accountId: string) =>
  sql`SELECT ${indexedText} AS words FROM ${licenses} WHERE ${licenses.accountId} = ${accountId} ORDER BY ${licenses.licenseKey} LIMIT ${literal(SAMPLE_SIZE)}`;

/**
 * Common table expressions for strategy 3: `rarest_query` has the FTS5 query for the text's rarest trigrams, and
 * `candidates` the first rows that match it, of any account.
 */
const rarestTrigrams = (accountId: string, q: string): SQL => sql`
  sample AS MATERIALIZED (${sampleQuery(accountId)}),
  trigrams(trigram, rank, seen) AS MATERIALIZED (
    SELECT value, key, (SELECT count(*) FROM sample WHERE instr(sample.words, value))
    FROM json_each(${JSON.stringify(trigramsToCount(q))})
  ),
  rarest(trigram) AS (
    SELECT trigram FROM trigrams WHERE seen <= (SELECT min(seen) FROM trigrams) + ${literal(MAX_EXTRA_COUNT)}
    ORDER BY seen, rank LIMIT ${literal(MAX_RAREST)}
  ),
  rarest_query(query) AS MATERIALIZED (
    SELECT 'words : NEAR(' || group_concat('"' || replace(trigram, '"', '""') || '"', ' ') || ${`, ${q.length})`}
    FROM rarest
  ),
  candidates(seq) AS MATERIALIZED (
    SELECT rowid FROM license_search WHERE license_search MATCH (SELECT query FROM rarest_query)
    LIMIT ${literal(MAX_CANDIDATES)}
  )`;

interface Search {
  accountId: string;
  q: string;
  /** Conditions on the licenses, in addition to the text. */
  filter: SQL | undefined;
  /** Whether the filter includes a status that few licenses have, which the index `licenses_by_status` covers. */
  isRareStatus: boolean;
  /** Only licenses with a lower `seq` are returned. */
  before: SQL | undefined;
  limit: number;
}

/** Returns the limit if all conditions hold, else 0. */
const limitIf = (runIf: SQL[], limit: number): SQL =>
  runIf.reduceRight((rest, condition) => sql`iif(${condition}, ${rest}, 0)`, literal(limit));

/** Selects the licenses that match an FTS5 query. */
const seqsByMatch = ({ filter, before, limit }: Search, query: SQL, runIf: SQL[]) => sql`
  SELECT ${licenses.seq} FROM license_search CROSS JOIN ${licenses} ON ${licenses.seq} = license_search.rowid
  WHERE ${and(sql`license_search MATCH ${query}`, before && sql`license_search.rowid < ${before}`, filter)}
  ORDER BY license_search.rowid DESC LIMIT ${limitIf(runIf, limit)}`;

/** Strategy 3: tests the candidates, or, if there are too many, the account's matches. */
const seqsByRarestTrigrams = (search: Search, runIf: SQL[]) => {
  const { accountId, q, before, limit } = search;
  const lower = q.toLowerCase();
  const filter = and(search.filter, containsText(lower));
  const query = sql`(SELECT ${`${accountTerm(accountId)} AND `} || query FROM rarest_query)`;
  const hasAllCandidates = sql`(SELECT count(*) < ${literal(MAX_CANDIDATES)} FROM candidates)`;
  return sql`
  WITH ${rarestTrigrams(accountId, lower)}
  SELECT * FROM (
    SELECT ${licenses.seq} FROM candidates CROSS JOIN ${licenses} ON ${licenses.seq} = candidates.seq
    WHERE ${and(filter, before && sql`candidates.seq < ${before}`)}
    ORDER BY candidates.seq DESC LIMIT ${limitIf([...runIf, hasAllCandidates], limit)}
  )
  UNION ALL SELECT * FROM (${seqsByMatch({ ...search, filter }, query, [...runIf, sql`NOT ${hasAllCandidates}`])})`;
};

/** Strategy 2 or 3. */
const seqsBySearchIndex = (search: Search, runIf: SQL[]) => {
  const { accountId, q } = search;
  const isLong = q.length > MAX_PHRASE_LENGTH && isAscii(q);
  return isLong
    ? seqsByRarestTrigrams(search, runIf)
    : seqsByMatch(search, sql`${phraseQuery(accountId, q)}`, runIf);
};

/** Scans an index that is sorted by `seq`. Without INDEXED BY, the planner may scan all expired licenses instead. */
const seqsByIndexScan = ({ filter, before, limit }: Search, index: string, match: SQL, runIf: SQL[]) => sql`
  SELECT ${licenses.seq} FROM ${licenses} INDEXED BY ${sql.identifier(index)}
  WHERE ${and(filter, before && sql`${licenses.seq} < ${before}`, match)}
  ORDER BY ${licenses.seq} DESC LIMIT ${limitIf(runIf, limit)}`;

/** Strategy 4 if the text is common, else strategy 2 or 3. */
const seqsByRareStatus = (search: Search, runIf: SQL[]) => {
  const { accountId, q } = search;
  if (Array.from(q).length < TRIGRAM_LENGTH || !isAscii(q)) return seqsBySearchIndex(search, runIf);
  const isCommon = sql`(SELECT is_common FROM common)`;
  const scan = seqsByIndexScan(search, 'licenses_by_status', containsText(q), [...runIf, isCommon]);
  return sql`
    WITH common(is_common) AS MATERIALIZED (
      SELECT count(*) >= ${literal(COMMON_COUNT)} FROM (${sampleQuery(accountId)}) WHERE instr(words, ${q.toLowerCase()})
    )
    SELECT * FROM (${seqsBySearchIndex(search, [...runIf, sql`NOT ${isCommon}`])})
    UNION ALL SELECT * FROM (${scan})`;
};

const seqsByText = (search: Search, runIf: SQL[] = []) =>
  search.isRareStatus ? seqsByRareStatus(search, runIf) : seqsBySearchIndex(search, runIf);

/** Strategy 1 if a customer of the account has this email address, else a search for the text. */
const seqsByEmail = (search: Search) => {
  const hasEmail = sql`lower(${licenses.customerEmail}) = ${search.q.toLowerCase()}`;
  const customer = sql`SELECT 1 FROM ${licenses} WHERE ${licenses.accountId} = ${search.accountId} AND ${hasEmail}`;
  return sql`
    WITH customer AS MATERIALIZED (${customer} LIMIT 1)
    SELECT * FROM (${seqsByIndexScan(search, 'licenses_by_email', hasEmail, [])})
    UNION ALL SELECT * FROM (${seqsByText(search, [sql`NOT EXISTS (SELECT 1 FROM customer)`])})`;
};

const isEmail = (q: string) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(q);

/** Returns a subquery that selects the `seq` of the newest licenses that match the search. */
export const matchingSeqs = (search: Search): SQL =>
  isEmail(search.q) ? seqsByEmail(search) : seqsByText(search);
