// What a search asks of the index, whose rows list every three characters in a row (its migration tells more). A long
// text has twenty and more of them, most of which stand in every other row: going through all of those lists takes far
// longer than taking the few that are rarest and looking at the licenses that they leave.
import { and, type SQL, sql } from 'drizzle-orm';
import { licenses } from '../db/schema.ts';

const PIECE_LENGTH = 3;
/** Up to here the index looks for the text as it is. */
const SHORT_LENGTH = 8;
/** Among so many pieces the rarest are looked for, in so many licenses: more of both would cost more than they save. */
const PIECES = 24;
const SAMPLE = 64;
const RAREST = 3;
/** How much more often than the rarest a piece may be seen; a list that is longer costs more than it rules out. */
const COMMONER = SAMPLE / 16;
/** A text that is seen so often is common. */
const COMMON = SAMPLE / 16;

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** Three of the six characters that the index has of it: each list more is as long as the account. */
const accountTerm = (accountId: string) => `account : ${quoted(accountId.slice(-PIECE_LENGTH))}`;

/** Two marks before each field stand for its beginning. */
const phraseQuery = (accountId: string, q: string) => {
  const words = Array.from(q).length < PIECE_LENGTH ? `\u0002\u0002${q}` : q;
  return `${accountTerm(accountId)} AND words : ${quoted(words)}`;
};

/** As the index was given them. This lower() knows ASCII only. */
const words = sql`lower(${licenses.licenseKey} || char(2, 2) || ${licenses.customerEmail} || char(2, 2) || coalesce(${licenses.customerName}, '') || char(2, 2) || coalesce(${licenses.product}, ''))`;

/** Pieces from all over the text, those without punctuation first, as they are rarer in keys and addresses. */
const piecesOf = (q: string): string[] => {
  const ranked = Array.from({ length: q.length - PIECE_LENGTH + 1 }, (_, at) => {
    const piece = q.slice(at, at + PIECE_LENGTH);
    // Multiples of the golden ratio never come close to each other.
    return { piece, rank: ((at * 0.618_034) % 1) + Number(/[^a-z0-9]/.test(piece)) };
  }).toSorted((a, b) => a.rank - b.rank);
  return [...new Set(ranked.map(({ piece }) => piece))].slice(0, PIECES);
};

/** Fewer rows than these are looked at whosever they are: finding them in the account's own list costs more. */
const FEW = 50;

const number = (value: number) => sql.raw(String(value));

/** The account's licenses with the lowest keys stand for all of them: generated keys are random. */
const sample = (accountId: string) =>
  sql`SELECT ${words} AS words FROM ${licenses} WHERE ${licenses.accountId} = ${accountId} ORDER BY ${licenses.licenseKey} LIMIT ${number(SAMPLE)}`;

/** What to look for: `near` names the rarest pieces of the text, `few` the first rows that have them. */
const rarest = (accountId: string, q: string): SQL => sql`
  sample AS MATERIALIZED (${sample(accountId)}),
  pieces(piece, rank, seen) AS MATERIALIZED (
    SELECT value, key, (SELECT count(*) FROM sample WHERE instr(sample.words, value))
    FROM json_each(${JSON.stringify(piecesOf(q))})
  ),
  rarest(piece) AS (
    SELECT piece FROM pieces WHERE seen <= (SELECT min(seen) FROM pieces) + ${number(COMMONER)}
    ORDER BY seen, rank LIMIT ${number(RAREST)}
  ),
  near(query) AS MATERIALIZED (
    SELECT 'words : NEAR(' || group_concat('"' || replace(piece, '"', '""') || '"', ' ') || ${`, ${q.length})`}
    FROM rarest
  ),
  few(seq) AS MATERIALIZED (
    SELECT rowid FROM license_search WHERE license_search MATCH (SELECT query FROM near) LIMIT ${number(FEW)}
  )`;

/** Only ASCII is compared outside of the index, which knows the case of all other letters. */
const isAscii = (q: string) => !/[^ -~]/.test(q);

const holds = (q: string) => sql`instr(${words}, ${q.toLowerCase()})`;

interface Search {
  accountId: string;
  q: string;
  /** What else is asked of the licenses. */
  filter: SQL | undefined;
  /** Whether few pass the filter, and an index has them in the order of `seq`. */
  isFew: boolean;
  /** Ends before this `seq`. */
  before: SQL | undefined;
  limit: number;
}

/** One statement has several ways to look. It takes one whose conditions hold, for a limit of 0 reads nothing. */
const limitIf = (conditions: SQL[], limit: number): SQL =>
  conditions.reduceRight((rest, condition) => sql`iif(${condition}, ${rest}, 0)`, number(limit));

const byMatch = ({ filter, before, limit }: Search, query: SQL, conditions: SQL[]) => sql`
  SELECT ${licenses.seq} FROM license_search CROSS JOIN ${licenses} ON ${licenses.seq} = license_search.rowid
  WHERE ${and(sql`license_search MATCH ${query}`, before && sql`license_search.rowid < ${before}`, filter)}
  ORDER BY license_search.rowid DESC LIMIT ${limitIf(conditions, limit)}`;

const byRarest = (search: Search, conditions: SQL[]) => {
  const { accountId, q, before, limit } = search;
  const lower = q.toLowerCase();
  const filter = and(search.filter, holds(lower));
  const query = sql`(SELECT ${`${accountTerm(accountId)} AND `} || query FROM near)`;
  const areFew = sql`(SELECT count(*) < ${number(FEW)} FROM few)`;
  return sql`
  WITH ${rarest(accountId, lower)}
  SELECT * FROM (
    SELECT ${licenses.seq} FROM few CROSS JOIN ${licenses} ON ${licenses.seq} = few.seq
    WHERE ${and(filter, before && sql`few.seq < ${before}`)}
    ORDER BY few.seq DESC LIMIT ${limitIf([...conditions, areFew], limit)}
  )
  UNION ALL SELECT * FROM (${byMatch({ ...search, filter }, query, [...conditions, sql`NOT ${areFew}`])})`;
};

const byIndex = (search: Search, conditions: SQL[]) => {
  const { accountId, q } = search;
  const isLong = q.length > SHORT_LENGTH && isAscii(q);
  return isLong
    ? byRarest(search, conditions)
    : byMatch(search, sql`${phraseQuery(accountId, q)}`, conditions);
};

/** By an index that has the order of `seq`, named because the planner would rather go through all that have expired. */
const inOrder = ({ filter, before, limit }: Search, index: string, wanted: SQL, conditions: SQL[]) => sql`
  SELECT ${licenses.seq} FROM ${licenses} INDEXED BY ${sql.identifier(index)}
  WHERE ${and(filter, before && sql`${licenses.seq} < ${before}`, wanted)}
  ORDER BY ${licenses.seq} DESC LIMIT ${limitIf(conditions, limit)}`;

/** Where many licenses hold the text, one after the other of the few is looked at, rather than all that hold it. */
const amongFew = (search: Search, conditions: SQL[]) => {
  const { accountId, q } = search;
  if (Array.from(q).length < PIECE_LENGTH || !isAscii(q)) return byIndex(search, conditions);
  const isCommon = sql`(SELECT is_common FROM common)`;
  return sql`
    WITH common(is_common) AS MATERIALIZED (
      SELECT count(*) >= ${number(COMMON)} FROM (${sample(accountId)}) WHERE instr(words, ${q.toLowerCase()})
    )
    SELECT * FROM (${byIndex(search, [...conditions, sql`NOT ${isCommon}`])})
    UNION ALL SELECT * FROM (${inOrder(search, 'licenses_by_status', holds(q), [...conditions, isCommon])})`;
};

const byText = (search: Search, conditions: SQL[] = []) =>
  search.isFew ? amongFew(search, conditions) : byIndex(search, conditions);

/** A customer's whole address finds that customer, and a part of one whoever has it. */
const byEmail = (search: Search) => {
  const isIt = sql`lower(${licenses.customerEmail}) = ${search.q.toLowerCase()}`;
  const customer = sql`SELECT 1 FROM ${licenses} WHERE ${licenses.accountId} = ${search.accountId} AND ${isIt}`;
  return sql`
    WITH customer AS MATERIALIZED (${customer} LIMIT 1)
    SELECT * FROM (${inOrder(search, 'licenses_by_email', isIt, [])})
    UNION ALL SELECT * FROM (${byText(search, [sql`NOT EXISTS (SELECT 1 FROM customer)`])})`;
};

const isEmail = (q: string) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(q);

/** The newest of them, by `seq`. */
export const found = (search: Search): SQL => (isEmail(search.q) ? byEmail(search) : byText(search));
